import { randomUUID } from 'node:crypto';
import { createAcmeClient, makeCertificateKey, type Order } from '@sallyport/acme';
import { expect, test } from 'vitest';
import type { StoredAccount } from '../accounts/store.ts';
import type { AcmeAttempt } from './acme-attempt.ts';
import { explain, ValidationFailed } from './failure.ts';
import { proveNames } from './prove.ts';
import { ACME_STEPS, createSteps } from './steps.ts';
import type { OrderWithSubject } from './store.ts';

const CA = 'https://ca.example';
const problem = (kind: string, status = 400) => ({
  type: `urn:ietf:params:acme:error:${kind}`,
  detail: 'so it is',
  status,
});
const challenge = { type: 'http-01', url: `${CA}/challenge`, token: 'DGyRjmCefe7v4NfDGDKfA-DGyRjm' };
const pending = {
  status: 'pending',
  identifier: { type: 'dns', value: 'a.test' },
  challenges: [{ ...challenge, status: 'pending' }],
};
const invalid = { ...pending, status: 'invalid', challenges: [{ ...challenge, status: 'invalid' }] };
const order: Order = {
  ...{ url: `${CA}/order`, status: 'pending', names: ['a.test'], authorizations: [`${CA}/authorization`] },
  ...{ finalize: `${CA}/finalize`, certificate: undefined, expires: undefined, error: undefined },
};

/** What comes of proving a name when the authority answers the start of its challenge so, and decides so. */
const prove = async (
  start: { status: number; body: object; retryAfter?: string },
  decided: object,
): Promise<unknown> => {
  let looks = 0;
  const answers: Record<string, () => { status?: number; body: object; location?: string; retryAfter?: string }> = {
    '/directory': () => ({
      body: { newNonce: `${CA}/nonce`, newAccount: `${CA}/account`, newOrder: `${CA}/orders`, revokeCert: `${CA}/r` },
    }),
    '/nonce': () => ({ body: {} }),
    '/account': () => ({ status: 201, location: `${CA}/account/1`, body: { status: 'valid' } }),
    '/challenge': () => start,
    '/authorization': () => {
      looks += 1;
      return { body: looks === 1 ? pending : decided };
    },
  };
  const client = createAcmeClient({
    directoryUrl: `${CA}/directory`,
    accountKey: await makeCertificateKey('p256'),
    transport: async ({ url }) => {
      const {
        status = 200,
        body,
        location,
        retryAfter,
      } = answers[new URL(url).pathname]?.() ?? { status: 404, body: {} };
      const headers = new Headers({ 'replay-nonce': randomUUID() });
      headers.set('content-type', status >= 400 ? 'application/problem+json' : 'application/json');
      if (location !== undefined) headers.set('location', location);
      if (retryAfter !== undefined) headers.set('retry-after', retryAfter);
      return { status, headers, body: JSON.stringify(body) };
    },
  });
  const { signal } = new AbortController();
  const row = { names: 'a.test', challenge: 'http-01' } as OrderWithSubject;
  const steps = createSteps(ACME_STEPS, async () => {});
  const rest = { account: {} as StoredAccount, accountKeyPem: '', underWay: undefined, keep: async () => {} };
  const attempt: AcmeAttempt = { row, client, steps, signal, ...rest };
  const deps = {
    challenges: { publish: async () => {}, withdraw: async () => {} },
    dns: {
      access: () => Promise.reject(new Error('none')),
      records: { rounds: async () => [], open: () => Promise.reject() },
    },
    log: { warn: () => {} },
  };
  return proveNames(deps, attempt, order).catch((error: unknown) => error);
};

test.for([
  ['rateLimited', 429],
  ['serverInternal', 500],
  ['badNonce', 400],
] as const)(
  'an authority that answers the start of a challenge with %s has validated nothing: the order is taken up again',
  async ([kind, status]) => {
    const error = await prove({ status, body: problem(kind, status), retryAfter: '3600' }, invalid);
    expect(error).toMatchObject({ name: 'AcmeProblem' });
    expect(explain(error)).toMatchObject({ isOrderOver: false, notBefore: expect.any(Date) });
  },
);

test('one that takes no such challenge any more has validated nothing either, and the order is over', async () => {
  const error = await prove({ status: 400, body: problem('malformed') }, invalid);
  expect(error).toMatchObject({ name: 'AcmeProblem' });
  expect(explain(error)).toMatchObject({ isOrderOver: true });
});

test.for(['connection', 'rateLimited', 'serverInternal'])(
  'an authorization that ended with %s is a failed validation',
  async (kind) => {
    const challenges = [{ ...challenge, status: 'invalid', error: problem(kind) }];
    const error = await prove({ status: 200, body: challenge }, { ...invalid, challenges });
    expect(error).toBeInstanceOf(ValidationFailed);
    expect(explain(error)).toMatchObject({ isOrderOver: true });
  },
);
