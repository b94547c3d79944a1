/** A pattern that cannot be used: why, and at which byte offset of its source. */
export class PatternError extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.name = 'PatternError';
    this.offset = offset;
  }
}
