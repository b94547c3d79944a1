/** Nonces that the CA has handed out and nobody has used (RFC 8555, section 6.5): each answer brings one, each request takes one. */
export class Nonces {
  #free: string[] = [];

  /** Keeps what an answer brought, unless it is no nonce (RFC 8555, section 6.5.1: it must be ignored then). */
  keep(nonce: string | null | undefined): void {
    if (typeof nonce === 'string' && /^[A-Za-z0-9_-]{1,512}$/.test(nonce)) this.#free.push(nonce);
    // Old ones are the first to be forgotten by a CA.
    if (this.#free.length > 16) this.#free.shift();
  }

  /** The newest, or undefined when there is none. */
  take(): string | undefined {
    return this.#free.pop();
  }

  /** Forgets all: when one was bad, those that are older are, too. */
  clear(): void {
    this.#free = [];
  }
}
