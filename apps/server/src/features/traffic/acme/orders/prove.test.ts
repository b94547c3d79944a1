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
/** What an authority says about one name of an order. */
interface Told {
  name: string;
  /** When its challenge is started. */
  start?: { status: number; body: object; retryAfter?: string };
  /** Status of its authorization when it is looked at first, and from then on; with what its challenge failed with. */
  first?: string;
  decided: string;
  error?: object;
}

/** What comes of proving names about which the authority says this. */
const proveAll = async (told: readonly Told[]): Promise<unknown> => {
  const looks = new Map<string, number>();
  const challengeOf = (name: string, status: string, error?: object) => ({
    ...{ type: 'http-01', url: `${CA}/challenge/${name}`, token: 'DGyRjmCefe7v4NfDGDKfA-DGyRjm' },
    ...{ status, ...(error === undefined ? {} : { error }) },
  });
  const look = ({ name, first = 'pending', decided, error }: Told): { body: object } => {
    const count = looks.get(name) ?? 0;
    looks.set(name, count + 1);
    const status = count === 0 ? first : decided;
    const challenges = [challengeOf(name, 'pending', status === 'pending' ? undefined : error)];
    return { body: { status, identifier: { type: 'dns', value: name }, challenges } };
  };
  const answers: Record<string, () => { status?: number; body: object; location?: string; retryAfter?: string }> = {
    '/directory': () => ({
      body: { newNonce: `${CA}/nonce`, newAccount: `${CA}/account`, newOrder: `${CA}/orders`, revokeCert: `${CA}/r` },
    }),
    '/nonce': () => ({ body: {} }),
    '/account': () => ({ status: 201, location: `${CA}/account/1`, body: { status: 'valid' } }),
    ...Object.fromEntries(
      told.flatMap((one) => [
        [`/authorization/${one.name}`, () => look(one)],
        [`/challenge/${one.name}`, () => one.start ?? { status: 200, body: challengeOf(one.name, 'pending') }],
      ]),
    ),
  };
  const names = told.map(({ name }) => name);
  const order: Order = {
    ...{
      url: `${CA}/order`,
      status: 'pending',
      names,
      authorizations: names.map((name) => `${CA}/authorization/${name}`),
    },
    ...{ finalize: `${CA}/finalize`, certificate: undefined, expires: undefined, error: undefined },
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
  const row = { names: names.join(), challenge: 'http-01' } as OrderWithSubject;
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

/** What comes of one name. */
const prove = (start: Told['start'], error?: object): Promise<unknown> =>
  proveAll([{ name: 'a.test', ...(start && { start }), decided: 'invalid', ...(error && { error }) }]);

test.for([
  ['rateLimited', 429],
  ['serverInternal', 500],
  ['badNonce', 400],
] as const)(
  'an authority that answers the start of a challenge with %s has validated nothing: the order is taken up again',
  async ([kind, status]) => {
    const error = await prove({ status, body: problem(kind, status), retryAfter: '3600' });
    expect(error).toMatchObject({ name: 'AcmeProblem' });
    expect(explain(error)).toMatchObject({ isOrderOver: false, notBefore: expect.any(Date) });
  },
);

test('one that takes no such challenge any more has validated nothing either, and the order is over', async () => {
  const error = await prove({ status: 400, body: problem('malformed') });
  expect(error).toMatchObject({ name: 'AcmeProblem' });
  expect(explain(error)).toMatchObject({ isOrderOver: true });
});

test.for(['connection', 'rateLimited', 'serverInternal'])(
  'an authorization that ended with %s is a failed validation',
  async (kind) => {
    const error = await prove(undefined, problem(kind));
    expect(error).toBeInstanceOf(ValidationFailed);
    expect(explain(error)).toMatchObject({ isOrderOver: true });
  },
);

test.for(['pending', 'invalid'])(
  'only the names whose own authorization was called invalid have failed, whether that is seen (%s) when it is or afterwards',
  async (first) => {
    const error = await proveAll([
      { name: 'invalid.test', first, decided: 'invalid', error: problem('connection') },
      { name: 'silent.test', first, decided: 'invalid' },
      { name: 'valid.test', decided: 'valid' },
      { name: 'expired.test', first: first === 'invalid' ? 'expired' : 'pending', decided: 'expired' },
      { name: 'unasked.test', start: { status: 429, body: problem('rateLimited', 429) }, decided: 'valid' },
    ]);
    expect(error).toBeInstanceOf(ValidationFailed);
    expect((error as ValidationFailed).invalidNames).toEqual(['invalid.test', 'silent.test']);
    const { issue, problem: document } = explain(error);
    expect(issue).toMatch(/invalid\.test: so it is; silent\.test: the authorization for silent\.test is invalid/);
    expect(document?.subproblems).toContainEqual(expect.objectContaining({ name: 'invalid.test', detail: 'so it is' }));
  },
);
