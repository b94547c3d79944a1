/** A secret that is stored can't be opened, mostly since its encryption key is gone. Its message says whose it is, and what to do. */
export class SecretLost extends Error {
  /** What is the matter. */
  readonly what: string;
  /** What to do about it. */
  readonly fix: string;
  constructor(whose: string, otherwise: string, cause: Error) {
    const what = `${whose} can not be opened (${cause.message})`;
    const fix = `put that encryption key back, or ${otherwise}`;
    super(`${what}: ${fix}`, { cause });
    this.name = 'SecretLost';
    this.what = what;
    this.fix = fix;
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
