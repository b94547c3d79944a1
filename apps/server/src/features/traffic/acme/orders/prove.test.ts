import { randomUUID } from 'node:crypto';
import { createAcmeClient, makeCertificateKey, type Order } from '@sallyport/acme';
import { expect, test } from 'vitest';
import type { StoredAccount } from '../accounts/store.ts';
import type { AcmeAttempt } from './acme-attempt.ts';
import { explain, ValidationFailed } from './failure.ts';
import { type ProvingDeps, proveNames } from './prove.ts';
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
  /** Kind of its challenge. */
  offers?: string;
}

/** How names are proven, in place of by HTTP with nothing that fails. */
interface How {
  challenge?: 'dns-01';
  dns?: ProvingDeps['dns'];
  dns_provider_id?: number;
  challenges?: ProvingDeps['challenges'];
}

/** What comes of proving names about which the authority says this. */
const proveAll = async (told: readonly Told[], how: How = {}): Promise<unknown> => {
  const looks = new Map<string, number>();
  const { challenge: type = 'http-01' } = how;
  const tokenOf = (name: string) => Buffer.from(`the token of ${name}`).toString('base64url');
  const challengeOf = (name: string, status: string, error?: object, offers: string = type) => ({
    ...{ type: offers, url: `${CA}/challenge/${name}`, token: tokenOf(name) },
    ...{ status, ...(error === undefined ? {} : { error }) },
  });
  const look = ({ name, first = 'pending', decided, error, offers }: Told): { body: object } => {
    const count = looks.get(name) ?? 0;
    looks.set(name, count + 1);
    const status = count === 0 ? first : decided;
    const challenges = [challengeOf(name, 'pending', status === 'pending' ? undefined : error, offers)];
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
  const row = {
    names: names.join(),
    challenge: type,
    dns_provider_id: how.dns_provider_id ?? null,
  } as OrderWithSubject;
  const steps = createSteps(ACME_STEPS, async () => {});
  const rest = { account: {} as StoredAccount, accountKeyPem: '', underWay: undefined, keep: async () => {} };
  const attempt: AcmeAttempt = { row, client, steps, signal, ...rest };
  const deps = {
    challenges: how.challenges ?? { publish: async () => {}, withdraw: async () => {} },
    dns: how.dns ?? {
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

test('a challenge that the authority does not offer is told with those that it does', async () => {
  const error = await proveAll([{ name: 'a.test', decided: 'valid', offers: 'tls-alpn-01' }]);
  expect(error).toMatchObject({
    name: 'CannotOrder',
    message: 'The authority does not take the challenge http-01 for a.test, but tls-alpn-01: order with that',
  });
});

test('answers are there before the authority is asked to look, and taken away whatever it says', async () => {
  const told: string[] = [];
  const challenges = (fails?: 'publish' | 'withdraw'): ProvingDeps['challenges'] => ({
    async publish(answers) {
      told.push(`publish ${answers.length}`);
      if (fails === 'publish') throw new Error('HAProxy is away');
    },
    async withdraw(tokens) {
      told.push(`withdraw ${tokens.length}`);
      if (fails === 'withdraw') throw new Error('the store is away');
    },
  });
  const names = ['a.test', 'b.test'];
  const valid = names.map((name) => ({ name, decided: 'valid' }));
  expect(await proveAll(valid, { challenges: challenges() })).toBeUndefined();
  expect(await proveAll(valid, { challenges: challenges('withdraw') })).toBeUndefined();
  const invalid = names.map((name) => ({ name, decided: 'invalid', error: problem('dns') }));
  expect(await proveAll(invalid, { challenges: challenges('withdraw') })).toBeInstanceOf(ValidationFailed);
  expect(await proveAll(valid, { challenges: challenges('publish') })).toMatchObject({
    name: 'CannotOrder',
    message: 'The proxy could not be told what to answer: HAProxy is away',
  });
  expect(told).toEqual(Array.from({ length: 4 }, () => ['publish 2', 'withdraw 2']).flat());
});

test('records are written, looked at and taken away one round after the other; one that stays keeps nobody from a certificate', async () => {
  const told: string[] = [];
  const dns = (closes = true): ProvingDeps['dns'] => ({
    access: async () => ({ type: 'webhook', fields: {}, secrets: {} }),
    records: {
      rounds: async (_access, challenges) => challenges.map((challenge) => [challenge]),
      async open(_access, round) {
        const names = round.map(({ domain }) => domain).join();
        told.push(`open ${names}`);
        return {
          async close() {
            told.push(`close ${names}`);
            if (!closes) throw new Error('the provider is away');
          },
        };
      },
    },
  });
  const how = { challenge: 'dns-01', dns: dns(), dns_provider_id: 1 } as const;
  const valid = ['a.test', 'b.test'].map((name) => ({ name, decided: 'valid' }));
  const inTurn = ['open a.test', 'close a.test', 'open b.test', 'close b.test'];
  expect(await proveAll(valid, how)).toBeUndefined();
  expect(told.splice(0)).toEqual(inTurn);
  expect(await proveAll(valid, { ...how, dns: dns(false) })).toBeUndefined();
  expect(told.splice(0)).toEqual(inTurn);
  const error = await proveAll([{ name: 'a.test', decided: 'invalid', error: problem('dns') }, ...valid.slice(1)], {
    ...how,
    dns: dns(false),
  });
  expect((error as ValidationFailed).invalidNames).toEqual(['a.test']);
  expect(told.splice(0)).toEqual(inTurn.slice(0, 2));

  const { dns_provider_id: _, ...nobody } = how;
  expect(await proveAll(valid, nobody)).toMatchObject({
    name: 'CannotOrder',
    message: expect.stringContaining('none is named'),
  });
  const { dns: __, ...unusable } = how;
  expect(await proveAll(valid, unusable)).toMatchObject({ message: 'The DNS provider can not be used: none' });
  expect(told).toEqual([]);
});
