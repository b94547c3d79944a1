/** An answer as it was sent. */
export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Ends a request: with its answer, or undefined when it made nothing and may be tried again. */
export type FinishRequest = (answer: Answer | undefined) => Promise<void>;

/**
 * Begins a request that may be sent more than once. Returns the answer to give again, or what to call once this one is
 * answered; waits while the same is answered here. Throws a 422 when the id stood for another request, a 409 when another
 * node is answering it, or when it was made and the answer is lost.
 */
export type BeginRequest = (id: string, fingerprint: string) => Promise<{ again: Answer } | { finish: FinishRequest }>;
