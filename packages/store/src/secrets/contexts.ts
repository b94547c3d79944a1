/** What the sealed key of the audit chain is bound to. */
export const CHAIN_KEY_CONTEXT = 'audit:chain';
