/** What the process that runs tests is asked for. */
export interface Order {
  /** Test files, the most promising first; the first failure ends the run. */
  readonly tests: readonly string[];
  /** Files whose text is another one than in the run before, as absolute paths. */
  readonly changed: readonly string[];
  /** Processor time after which it works in vain, in milliseconds. */
  readonly limitMs: number;
}

/** What came of it. */
export interface Answer {
  readonly outcome: 'passed' | 'noticed' | 'too long';
  readonly processorMs: number;
  /** Names of the tests that failed, or what else went wrong. */
  readonly failures: readonly string[];
}
