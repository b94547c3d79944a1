/** Ends the parsing of a body: what is wrong, at which byte, and whether it is only more than one of our limits allows. */
export class Malformed {
  readonly reason: string;
  readonly at: number;
  readonly isOverLimit: boolean;
  constructor(reason: string, at: number, isOverLimit: boolean) {
    this.reason = reason;
    this.at = at;
    this.isOverLimit = isOverLimit;
  }
}
