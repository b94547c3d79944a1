// What a sealed text is bound to, so that it can't be moved to another place of the store. Every place has its own here:
// `rotate-keys.ts` opens and seals them all.

/** Key of the audit chain. */
export const CHAIN_KEY_CONTEXT = 'audit:chain';

/** Private key of a certificate. */
export const certificateKeyContext = (uuid: string): string => `certificate:${uuid}`;

/** Private key of a certificate that is being ordered. */
export const orderKeyContext = (certificateId: number): string => `certificate-order:${certificateId}`;

/** Key of an account with a certificate authority. */
export const acmeAccountContext = (uuid: string): string => `acme-account:${uuid}`;

/** Key of an account's external account binding. */
export const eabContext = (uuid: string): string => `acme-account:${uuid}:eab`;

/** Secret fields of a DNS provider. */
export const dnsProviderContext = (uuid: string): string => `dns-provider:${uuid}`;

/** Key of the internal certificate authority. */
export const INTERNAL_CA_CONTEXT = 'internal-ca';

/** Secret of an authenticator app. */
export const totpContext = (userId: number): string => `user:${userId}:totp`;

/** Value of a secret setting. */
export const settingContext = (key: string): string => `setting:${key}`;

/** Password of CrowdSec's machine at its console. */
export const consoleContext = (login: string): string => `crowdsec:console:${login}`;

/** Secrets of a change, in the history of `resource`. */
export const historyContext = (batch: string, resource: string): string => `history:${batch}:${resource}`;

/** Answer to a request with an `Idempotency-Key`. */
export const answerContext = (id: string): string => `idempotency:${id}`;

/** Files of an import, and what was read of them. */
export const importContext = (uuid: string, what: 'files' | 'reading'): string => `import:${uuid}:${what}`;
