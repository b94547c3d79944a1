/** Something that was stored can't be used. Its message says what is the matter, and what to do about it. */
export class Unusable extends Error {
  /** What is the matter. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string;
  constructor(what: string, fix: string, cause?: Error) {
    super(`${what}: ${fix}`, cause && { cause });
    this.name = 'Unusable';
    this.what = what;
    this.fix = fix;
  }
}

/** A secret that is stored can't be opened, mostly since its encryption key is gone. Its message says whose it is, and what to do. */
export class SecretLost extends Unusable {
  constructor(whose: string, otherwise: string, cause: Error) {
    super(`${whose} can not be opened (${cause.message})`, `put that encryption key back, or ${otherwise}`, cause);
    this.name = 'SecretLost';
  }
}

/** What `open` opens: a secret of `whose`. Throws a `SecretLost`; `otherwise` is what to do where the key does not come back. */
export const openSecret = (open: () => string, whose: string, otherwise: string): string => {
  try {
    return open();
  } catch (error) {
    throw new SecretLost(whose, otherwise, error as Error);
  }
};
