/** What came of one check, in words for the operator: when it is not well, they say what to do. */
export interface Outcome {
  ok: boolean;
  message: string;
}

export const well = (message: string): Outcome => ({ ok: true, message });
export const amiss = (message: string): Outcome => ({ ok: false, message });

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What came of `check`; one that fails or takes longer is amiss, as whoever is locked out could not wait for it either. */
export const within = async (timeoutMs: number, check: () => Promise<Outcome>): Promise<Outcome> => {
  const { promise: late, resolve } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => resolve(amiss(`no answer within ${timeoutMs / 1000} seconds`)), timeoutMs);
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return amiss(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
};
