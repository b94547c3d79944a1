import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeCertificate } from '../../../test/support/certificates.ts';
import { pauseFor } from '../src/client/poll.ts';
import { AcmeEnded, AcmeProblem, AcmeProtocolError, AcmeUnreachable, createAcmeClient, limits } from '../src/index.ts';
import { newAccountKey } from './account-key.ts';
import { authorityKeyIs, certify } from './certify.ts';
import { failure } from './failure.ts';
import { CA, DIRECTORY, payloadOf, pendingAuthorization, pendingOrder, scriptedCa, TOKEN } from './scripted-ca.ts';
import { httpsTransport } from './transport.ts';

const urn = (kind: string) => `urn:ietf:params:acme:error:${kind}`;

describe('a server that is no CA', () => {
  const startServer = async (answer: Parameters<typeof createServer>[1]) => {
    const { certificate: ca, key } = makeCertificate(['localhost', '127.0.0.1']);
    const server: Server = createServer({ cert: ca, key }, answer);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return {
      origin,
      directory: (requestTimeoutMs = 30_000) =>
        failure(
          createAcmeClient({
            directoryUrl: `${origin}/dir`,
            accountKey: newAccountKey(),
            transport: httpsTransport(ca),
            requestTimeoutMs,
          }).directory(),
        ),
      async stop() {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  };

  test('hangs, never ends, is too large, redirects, and is gone', async () => {
    let asked = 0;
    let mode = 'silent';
    const server = await startServer((_, response) => {
      asked += 1;
      if (mode === 'silent') return;
      if (mode === 'redirect') {
        response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      if (mode === 'endless') response.write('{');
      else response.end('x'.repeat(10_000_000));
    });
    const silent = await server.directory(200);
    expect(silent).toBeInstanceOf(AcmeUnreachable);
    expect((silent as Error).message).toBe(`${server.origin}/dir: no answer within 0.2 seconds`);
    mode = 'endless';
    expect(await server.directory(200)).toBeInstanceOf(AcmeUnreachable);
    mode = 'large';
    const large = await server.directory();
    expect(large).toBeInstanceOf(AcmeProtocolError);
    expect((large as Error).message).toContain(`larger than ${limits.answerBytes} bytes`);
    mode = 'redirect';
    asked = 0;
    const redirect = await server.directory();
    expect(redirect).toBeInstanceOf(AcmeProtocolError);
    expect((redirect as Error).message).toContain('redirect (302) to "http://169.254.169.254/latest/meta-data"');
    expect(asked).toBe(1);
    await server.stop();
    const gone = await server.directory();
    expect(gone).toBeInstanceOf(AcmeUnreachable);
    expect((gone as Error).message).toContain('ECONNREFUSED');
  });

  test.for([
    ['garbage', { body: 'hello\u001b[31m' }, 'not JSON: "hello [31m"'],
    ['a list', { body: '[]' }, 'no object'],
    ['deep nonsense', { body: '['.repeat(200_000) }, 'not JSON'],
    ['HTML', { headers: { 'content-type': 'text/html' }, body: '<html>' }, 'of type "text/html"'],
    ['another API', { body: { status: 'ok' } }, 'no ACME directory: it has no newNonce'],
    ['a page that is missing', { status: 404, body: 'no' }, 'an error (404)'],
    ['an odd status', { status: 101 }, 'the status 101'],
    ['more than the transport should let in', { body: JSON.stringify('ä'.repeat(200_000)) }, 'larger than'],
    ['what is inherited only', { body: '{"__proto__":{"newNonce":"https://ca.example:14000/n"}}' }, 'no newNonce'],
  ] as const)('%s', async ([, answer, problem]) => {
    const error = await failure(
      scriptedCa({ '/dir': { ...answer } })
        .client()
        .directory(),
    );
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain(problem);
    expect((error as Error).message.length).toBeLessThan(300);
  });

  test('a balancer’s error is worth another try, and the next try is made', async () => {
    const ca = scriptedCa({
      '/dir': [{ status: 502, headers: { 'content-type': 'text/html', 'retry-after': '60' } }, { body: DIRECTORY }],
    });
    const clock = () => new Date('2026-11-22T12:00:00Z');
    const client = ca.client({ clock });
    const error = (await failure(client.directory())) as AcmeUnreachable;
    expect(error).toBeInstanceOf(AcmeUnreachable);
    expect(error.retryAfter).toEqual(new Date('2026-11-22T12:01:00Z'));
    expect((await client.directory()).newOrder).toBe(DIRECTORY.newOrder);
    await client.directory();
    expect(ca.asked).toHaveLength(2);
  });

  test('a transport that does not heed its signal holds nobody up', async () => {
    const ending = new AbortController();
    const ca = scriptedCa();
    const asking = failure(ca.client({ signal: ending.signal, transport: () => new Promise(() => {}) }).directory());
    ending.abort(new Error('given up'));
    expect(await asking).toMatchObject({ message: 'given up' });
    const late = ca.client({ transport: () => new Promise(() => {}), requestTimeoutMs: 50 });
    expect(await failure(late.directory())).toBeInstanceOf(AcmeUnreachable);
  });
});

describe('URLs of elsewhere', () => {
  const elsewhere = [
    'https://other.example/nonce',
    'https://ca.example/nonce',
    'http://ca.example:14000/nonce',
    'https://ca.example:14000@evil.example/nonce',
    'https://user:secret@ca.example:14000/nonce',
    'file:///etc/passwd',
    ' https://ca.example:14000/nonce',
    'https:\\\\ca.example:14000\\nonce',
    'https://ca.example:14000/nonce\r\nhost: evil',
    '//ca.example:14000/nonce',
    '/nonce',
    17,
    null,
  ];
  test.for(elsewhere)('in a directory: %s', async (url) => {
    const ca = scriptedCa({ '/dir': { body: { ...DIRECTORY, newNonce: url } } });
    const error = await failure(ca.client().directory());
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('newNonce');
    expect(ca.asked).toHaveLength(1);
  });

  test.for(['renewalInfo', 'revokeCert'])('in what a directory need not have: %s', async (name) => {
    const directory = { ...DIRECTORY, [name]: 'https://127.0.0.1/' };
    expect(
      await failure(
        scriptedCa({ '/dir': { body: directory } })
          .client()
          .directory(),
      ),
    ).toBeInstanceOf(AcmeProtocolError);
  });

  test.for([
    ['account', { '/account': { status: 201, headers: { location: 'https://10.0.0.1/' }, body: {} } }],
    ['no account', { '/account': { status: 201, body: {} } }],
    ['order', { '/orders': { status: 201, headers: { location: 'https://10.0.0.1/' }, body: pendingOrder } }],
    ['no order', { '/orders': { status: 201, body: pendingOrder } }],
    ['authorization', { '/order': { body: { ...pendingOrder, authorizations: ['https://10.0.0.1/'] } } }],
    ['finalize', { '/order': { body: { ...pendingOrder, finalize: 'https://10.0.0.1/' } } }],
    ['certificate', { '/order': { body: { ...pendingOrder, status: 'valid', certificate: 'https://10.0.0.1/' } } }],
    ['no certificate', { '/order': { body: { ...pendingOrder, status: 'valid' } } }],
    [
      'challenge',
      {
        '/authorization': {
          body: {
            ...pendingAuthorization,
            challenges: [{ ...pendingAuthorization.challenges[0], url: 'https://10.0.0.1/' }],
          },
        },
      },
    ],
  ] as const)('in the place of: %s', async ([, script]) => {
    const ca = scriptedCa(script);
    const client = ca.client();
    const work = async () => {
      const { url, authorizations } = await client.newOrder({ names: ['a.example'] });
      await client.order(url);
      await client.authorization(authorizations[0] ?? '');
    };
    expect(await failure(work())).toBeInstanceOf(AcmeProtocolError);
    expect(ca.asked.every(({ url }) => url.startsWith(`${CA}/`))).toBe(true);
  });

  test('that the caller has from somewhere', async () => {
    const ca = scriptedCa();
    const client = ca.client();
    const calls = ['order', 'authorization', 'startChallenge', 'waitForOrder', 'waitForAuthorization'] as const;
    for (const call of calls)
      expect(await failure(client[call]('https://10.0.0.1/'))).toBeInstanceOf(AcmeProtocolError);
    expect(ca.asked.every(({ url }) => url.startsWith(`${CA}/`))).toBe(true);
    expect(() => ca.client({ accountUrl: 'https://10.0.0.1/' })).toThrow(AcmeProtocolError);
  });

  test.for(['http://ca.example/dir', 'ca.example/dir', '', 'https://user:secret@ca.example/dir', 'file:///dir'])(
    'no directory at all: %s',
    (directoryUrl) => {
      const make = () => scriptedCa().client({ directoryUrl });
      expect(make).toThrow(AcmeProtocolError);
      expect(make).not.toThrow('secret');
    },
  );
});

test('a URL comes back to the CA as it wrote it', async () => {
  const accountUrl = 'https://CA.example:14000/account/./1';
  const ca = scriptedCa({ '/account': { status: 200, headers: { location: accountUrl }, body: {} } });
  const client = ca.client();
  expect(await client.findAccount()).toEqual({ accountUrl });
  await client.order(`${CA}/order`);
  const { protected: header } = JSON.parse(ca.asked.at(-1)?.body ?? '{}') as { protected: string };
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
    kid: accountUrl,
    url: `${CA}/order`,
  });
});

test('another chain that can not be had costs nobody the certificate', async () => {
  const { certificate, key: keyPem } = makeCertificate(['a.example']);
  const pem = { 'content-type': 'application/pem-certificate-chain' };
  const link = `<${CA}/other>;rel="alternate", <https://10.0.0.1/>;rel="alternate"`;
  const ca = scriptedCa({
    '/certificate': { headers: { ...pem, link }, body: certificate },
    '/other': { status: 404 },
  });
  const chain = await ca
    .client()
    .certificate(`${CA}/certificate`, { names: ['a.example'], keyPem, preferredRoot: 'Some Root' });
  expect(chain).toBe(certificate);
  expect(ca.paths().slice(-2)).toEqual(['/certificate', '/other']);
});

test('a key that is none is not repeated', () => {
  for (const accountKey of [
    '',
    'secret-nonsense',
    '-----BEGIN PRIVATE KEY-----\nsecret-nonsense\n-----END PRIVATE KEY-----',
  ]) {
    expect(() => scriptedCa().client({ accountKey })).toThrow(new TypeError('the account’s key is no PEM private key'));
  }
  const { key } = makeCertificate(['a.example'], {
    keyCommand: ['genpkey', '-algorithm', 'ed25519', '-out', 'key.pem'],
  });
  expect(() => scriptedCa().client({ accountKey: key })).toThrow('not an EC key on P-256');
});

describe('refusals', () => {
  test('are the CA’s own words, bounded and clean', async () => {
    const body = {
      type: urn('rateLimited'),
      detail: `too many \u001b[31mcertificates\u202e\r\n${'x'.repeat(100_000)}`,
      status: 200,
      subproblems: [
        { type: urn('caa'), detail: 'CAA forbids', identifier: { type: 'dns', value: 'a.example' } },
        'nonsense',
        { detail: 7 },
      ],
    };
    const ca = scriptedCa({
      '/orders': { status: 429, headers: { 'retry-after': 'Sun, 22 Nov 2026 13:00:00 GMT' }, body },
    });
    const client = ca.client({ clock: () => new Date('2026-11-22T12:00:00Z') });
    const problem = (await failure(client.newOrder({ names: ['a.example'] }))) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem).toMatchObject({ type: urn('rateLimited'), status: 429, url: `${CA}/orders` });
    expect(problem.is('rateLimited')).toBe(true);
    expect(problem.detail).toMatch(/^too many {1,2}\[31mcertificates x+…$/);
    expect(problem.message.length).toBeLessThan(2_100);
    expect(problem.retryAfter).toEqual(new Date('2026-11-22T13:00:00Z'));
    expect(problem.subproblems).toEqual([
      { name: 'a.example', type: urn('caa'), detail: 'CAA forbids' },
      { name: '', type: 'about:blank', detail: '' },
    ]);
    // Nothing is tried again by itself.
    expect(ca.paths().filter((path) => path === '/orders')).toHaveLength(1);
  });

  test('of nonces are taken back with the nonce that comes with them, and end', async () => {
    const badNonce = { status: 400, body: { type: urn('badNonce'), detail: 'used' } };
    const ca = scriptedCa({ '/order': [badNonce, badNonce, { body: pendingOrder }] });
    const client = ca.client();
    expect((await client.order(`${CA}/order`)).status).toBe('pending');
    const nonces = ca.asked
      .filter(({ body }) => body !== undefined)
      .map(
        ({ body = '' }) => JSON.parse(Buffer.from(JSON.parse(body).protected, 'base64url').toString()).nonce as string,
      );
    expect(new Set(nonces).size).toBe(nonces.length);
    expect(ca.paths().filter((path) => path === '/nonce')).toHaveLength(1);

    const never = scriptedCa({ '/order': badNonce });
    const problem = (await failure(never.client().order(`${CA}/order`))) as AcmeProblem;
    expect(problem.is('badNonce')).toBe(true);
    expect(never.paths().filter((path) => path === '/order')).toHaveLength(limits.nonceAttempts);
  });

  test('a nonce that is none is not sent', async () => {
    const ca = scriptedCa({ '/nonce': { headers: { 'replay-nonce': 'a b"' } } });
    const error = await failure(ca.client().newOrder({ names: ['a.example'] }));
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('no nonce');
  });
});

describe('orders', () => {
  const order = (body: object) => failure(scriptedCa({ '/order': { body } }).client().order(`${CA}/order`));

  test.for([
    ['an unknown status', { ...pendingOrder, status: 'done' }, 'no status that ACME knows: "done"'],
    ['no authorizations', { ...pendingOrder, authorizations: [] }, 'authorizations'],
    ['101 authorizations', { ...pendingOrder, authorizations: Array(101).fill(`${CA}/a`) }, 'authorizations'],
    ['no names', { ...pendingOrder, identifiers: [{}] }, 'without a name'],
    ['nothing', {}, 'no status'],
  ] as const)('%s', async ([, body, problem]) => {
    const error = await order(body);
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain(problem);
  });

  test('for other names than those asked for', async () => {
    const error = await failure(
      scriptedCa()
        .client()
        .newOrder({ names: ['b.example'] }),
    );
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('other names');
  });

  test('that follow a certificate say so where the CA knows ARI, and are made anyway when it has a successor', async () => {
    const replaced = { status: 409, body: { type: urn('alreadyReplaced'), detail: 'replaced' } };
    const made = { status: 201, headers: { location: `${CA}/order` }, body: pendingOrder };
    const ca = scriptedCa({ '/orders': [replaced, made] });
    await ca.client().newOrder({ names: ['a.example'], replaces: 'aYhb.AQ', profile: 'shortlived' });
    const payloads = ca.asked.filter(({ url }) => url.endsWith('/orders')).map(payloadOf);
    const identifiers = [{ type: 'dns', value: 'a.example' }];
    expect(payloads).toEqual([
      { identifiers, profile: 'shortlived', replaces: 'aYhb.AQ' },
      { identifiers, profile: 'shortlived' },
    ]);
    const { renewalInfo: _, ...directory } = DIRECTORY;
    const older = scriptedCa({ '/dir': { body: directory } });
    await older.client().newOrder({ names: ['a.example'], replaces: 'aYhb.AQ' });
    expect(older.asked.filter(({ url }) => url.endsWith('/orders')).map(payloadOf)).toEqual([{ identifiers }]);
  });

  test('that expired or failed end the waiting, with the CA’s reason where there is one', async () => {
    const wait = (body: object) => failure(scriptedCa({ '/order': { body } }).client().waitForOrder(`${CA}/order`));
    expect(await wait({ ...pendingOrder, status: 'invalid' })).toBeInstanceOf(AcmeEnded);
    const error = { type: urn('caa'), detail: 'CAA forbids', status: 403 };
    const problem = (await wait({ ...pendingOrder, status: 'invalid', error })) as AcmeProblem;
    expect(problem.is('caa')).toBe(true);
    expect(problem).toMatchObject({ status: 403, url: `${CA}/order` });
  });
});

describe('authorizations', () => {
  const wait = (body: object) =>
    failure(scriptedCa({ '/authorization': { body } }).client().waitForAuthorization(`${CA}/authorization`));

  test.for(['expired', 'deactivated', 'revoked', 'invalid'])('that are %s', async (status) => {
    const error = await wait({ ...pendingAuthorization, status });
    expect(error).toBeInstanceOf(AcmeEnded);
    expect(error).toMatchObject({ state: status, message: `the authorization for a.example is ${status}` });
  });

  test.for(['../../etc/passwd', `${TOKEN}\n`, 'short', 'a'.repeat(300), 'DGyRejmCefe7v4NfDGDKfA=', 7, ''])(
    'a token that must not get into a path: %j',
    async (token) => {
      const challenges = [{ ...pendingAuthorization.challenges[0], token }];
      expect(await wait({ ...pendingAuthorization, challenges })).toBeInstanceOf(AcmeProtocolError);
      const client = scriptedCa().client();
      expect(await failure(client.keyAuthorization(String(token)))).toBeInstanceOf(AcmeProtocolError);
      expect(await failure(client.dnsRecordValue(String(token)))).toBeInstanceOf(AcmeProtocolError);
    },
  );

  test.for(['*.a.example', 'a.example/../b', '', 'a_b.example', '<script>'])('for a name like %j', async (value) => {
    expect(await wait({ ...pendingAuthorization, identifier: { type: 'dns', value } })).toBeInstanceOf(
      AcmeProtocolError,
    );
  });

  test('a name without a dot, which a CA of one’s own may know', async () => {
    const ca = scriptedCa({
      '/authorization': {
        body: { ...pendingAuthorization, identifier: { type: 'dns', value: 'NAS' }, wildcard: true },
      },
    });
    expect(await ca.client().authorization(`${CA}/authorization`)).toMatchObject({ name: 'nas', wildcard: true });
  });

  test('challenges without a token are for others', async () => {
    const challenges = [
      { type: 'dns-persist-01', url: `${CA}/c`, status: 'pending' },
      ...pendingAuthorization.challenges,
    ];
    const ca = scriptedCa({ '/authorization': { body: { ...pendingAuthorization, challenges } } });
    const authorization = await ca.client().authorization(`${CA}/authorization`);
    expect(authorization.challenges.map(({ type }) => type)).toEqual(['http-01']);
  });
});

describe('waiting', () => {
  const decided = { body: { ...pendingAuthorization, status: 'valid' } };
  const pending = (retryAfter?: string) => ({
    body: pendingAuthorization,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  });
  const clock = () => new Date('2026-11-22T12:00:00Z');

  test('is longer each time, or as long as the CA asks for, within limits', async () => {
    const busy = { status: 503, headers: { 'retry-after': '7' }, body: { type: urn('rateLimited'), detail: 'busy' } };
    const answers = [
      pending(),
      pending(),
      pending('3'),
      pending('999999'),
      pending('0'),
      pending('Sun, 22 Nov 2026 12:00:09 GMT'),
      pending('soon'),
      busy,
      { ...busy, body: { type: urn('serverInternal'), detail: 'no' } },
      { ...busy, headers: { ...busy.headers, 'content-type': 'text/html' } },
      ...Array(4).fill(pending()),
      decided,
    ];
    const ca = scriptedCa({ '/authorization': answers });
    await ca.client({ clock }).waitForAuthorization(`${CA}/authorization`);
    expect(ca.pauses).toEqual([
      250, 500, 3_000, 120_000, 250, 9_000, 15_000, 7_000, 7_000, 7_000, 15_000, 15_000, 15_000, 15_000,
    ]);
  });

  test('ends after ten minutes', async () => {
    const ca = scriptedCa({ '/authorization': pending() });
    const error = await failure(ca.client({ clock }).waitForAuthorization(`${CA}/authorization`));
    expect(error).toBeInstanceOf(AcmeUnreachable);
    expect((error as Error).message).toContain('not decided within 10 minutes');
    const waited = ca.pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waited).toBeLessThanOrEqual(limits.pollTimeoutMs);
    expect(waited).toBeGreaterThan(limits.pollTimeoutMs - 16_000);
  });

  test('does not outlast a server that is down and does not say for how long', async () => {
    const ca = scriptedCa({ '/authorization': [pending(), { status: 500, body: 'no' }] });
    expect(await failure(ca.client().waitForAuthorization(`${CA}/authorization`))).toBeInstanceOf(AcmeUnreachable);
    expect(ca.pauses).toHaveLength(1);
  });

  test('is a pause of its own, which a signal ends', async () => {
    const ca = scriptedCa({ '/authorization': [pending(), decided] });
    await ca.client({ pause: pauseFor }).waitForAuthorization(`${CA}/authorization`);
    expect(ca.paths().filter((path) => path === '/authorization')).toHaveLength(2);
    const ending = new AbortController();
    const waiting = failure(pauseFor(60_000, ending.signal));
    ending.abort();
    expect(await waiting).toBeInstanceOf(Error);
  });

  test('does not outlast a refusal', async () => {
    const refusal = { status: 403, body: { type: urn('unauthorized'), detail: 'no' } };
    const ca = scriptedCa({ '/authorization': [pending(), refusal] });
    expect(await failure(ca.client().waitForAuthorization(`${CA}/authorization`))).toBeInstanceOf(AcmeProblem);
    expect(ca.pauses).toHaveLength(1);
  });
});

describe('when to renew', () => {
  const { certificate } = certify('7', authorityKeyIs('01:02:03:04:05'.padEnd(59, ':06')));
  const clock = () => new Date('2026-11-22T12:00:00Z');
  const window = { start: '2026-12-01T00:00:00Z', end: '2026-12-02T00:00:00Z' };
  const ask = (body: object, headers: Record<string, string> = {}) =>
    scriptedCa({ [path]: { body, headers } })
      .client({ clock })
      .renewalInfo(certificate);
  let path = '';

  test('is asked for without an account, and read within limits', async () => {
    const all = scriptedCa();
    await failure(all.client().renewalInfo(certificate));
    path = all.paths().at(-1) ?? '';
    expect(path).toMatch(/^\/renewal\/[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/);
    expect(all.asked.map(({ method }) => method)).toEqual(['GET', 'GET']);

    expect(await ask({ suggestedWindow: window, explanationURL: 'https://ca.example/why' })).toEqual({
      windowStart: new Date(window.start),
      windowEnd: new Date(window.end),
      explanationUrl: 'https://ca.example/why',
      retryAfter: new Date('2026-11-22T18:00:00Z'),
    });
    const retryAfter = async (header: string) =>
      (await ask({ suggestedWindow: window }, { 'retry-after': header }))?.retryAfter;
    expect(await retryAfter('21600')).toEqual(new Date('2026-11-22T18:00:00Z'));
    expect(await retryAfter('1')).toEqual(new Date('2026-11-22T12:01:00Z'));
    expect(await retryAfter('9999999999')).toEqual(new Date('2026-11-23T12:00:00Z'));
    expect(
      (await ask({ suggestedWindow: window, explanationURL: 'javascript:alert(1)' }))?.explanationUrl,
    ).toBeUndefined();

    const quoted = await ask({ suggestedWindow: window, explanationURL: 'x https://ca.example/' });
    expect(quoted?.explanationUrl).toBeUndefined();

    for (const bad of [
      {},
      { start: window.end, end: window.start },
      { start: window.start, end: window.start },
      { start: 'soon', end: 'later' },
    ]) {
      expect(await failure(ask({ suggestedWindow: bad }))).toBeInstanceOf(AcmeProtocolError);
    }
  });

  test('is nothing where the CA does not say', async () => {
    const { renewalInfo: _, ...directory } = DIRECTORY;
    const ca = scriptedCa({ '/dir': { body: directory } });
    expect(await ca.client().renewalInfo(certificate)).toBeUndefined();
  });
});

test('what a directory tells of its CA', async () => {
  const meta = {
    termsOfService: 'https://terms.example/1.pdf',
    website: 'javascript:alert(1)',
    caaIdentities: ['CA.example', 7, 'ca\u0000.example'],
    externalAccountRequired: true,
    profiles: { classic: 'https://ca.example/profiles', shortlived: 'six days' },
  };
  const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
  const ca = scriptedCa({ '/dir': { headers, body: { ...DIRECTORY, meta } } });
  expect(await ca.client().directory()).toEqual({
    ...DIRECTORY,
    termsOfService: 'https://terms.example/1.pdf',
    website: undefined,
    caaIdentities: ['ca.example', 'ca .example'],
    externalAccountRequired: true,
    profiles: { classic: 'https://ca.example/profiles', shortlived: 'six days' },
  });
});
