/** Something that an operator does while the power fails; a new kind is one more of these in power-cut.test.ts. */
export interface Work {
  name: string;
  /** Power is cut within this time; default 400 ms. */
  longestMs?: number;
  /** Brings about what is to be worked on; everything runs and is left alone meanwhile. */
  prepare(): Promise<void>;
  /** Does it. Resolves to whether it was acknowledged; never rejects, as the power may fail at any moment of it. */
  run(): Promise<boolean>;
  /** Looks on while everything starts again, until it is ready. Rejects at the sight of what must not be seen. */
  watchStart?(wasAcknowledged: boolean, signal: AbortSignal): Promise<void>;
  /** After the start: rejects unless what was acknowledged is there, whole, and what was not is there whole or not at all. */
  check(wasAcknowledged: boolean): Promise<void>;
}

/** Whether a request was answered as done; never rejects. */
export const isAcknowledged = (request: Promise<unknown>): Promise<boolean> =>
  request.then(
    () => true,
    () => false,
  );
