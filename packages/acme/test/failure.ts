/** What the work fails with; a text that is no error when it succeeds. */
export const failure = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'nothing failed',
    (error: unknown) => error,
  );
