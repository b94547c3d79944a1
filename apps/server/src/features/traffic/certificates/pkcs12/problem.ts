/** Why a PKCS #12 file can't be used: words that follow on what the file is called. */
export class Pkcs12Problem extends Error {
  /** It is its password that is missing or wrong. */
  readonly isLocked: boolean;

  constructor(message: string, isLocked = false) {
    super(message);
    this.isLocked = isLocked;
  }
}
