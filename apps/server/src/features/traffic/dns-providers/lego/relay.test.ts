import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { request } from 'node:https';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { expect, onTestFinished, test } from 'vitest';
import { readAccountKey } from './account-key.ts';
import { startRelay } from './relay.ts';

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const signedBy = (by: KeyObject, payload: object): string => {
  const [head = '', text = ''] = [{ alg: 'ES256' }, payload].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = sign('sha256', Buffer.from(`${head}.${text}`), { key: by, dsaEncoding: 'ieee-p1363' });
  return JSON.stringify({ protected: head, payload: text, signature: signature.toString('base64url') });
};

/** A relay of these names, who has its account, and ways to ask it. */
const given = async (...domains: string[]) => {
  const { certificate, key } = await createSelfSignedCertificate({
    names: ['127.0.0.1'],
    validFrom: new Date(),
    validDays: 1,
  });
  const account = newKey();
  const { publicKey } = readAccountKey(account.export({ format: 'pem', type: 'pkcs8' }) as string);
  const challenges = domains.map((domain, index) => ({ domain, token: `token ${index}`, value: 'v' }));
  const relay = await startRelay({ challenges, publicKey, certificate, key });
  onTestFinished(() => relay.stop());
  const began: string[] = [];
  const post = (path: string, body: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(new URL(path, relay.url), { method: 'POST', ca: certificate, agent: false }, (response) => {
        began.push(path);
        let text = '';
        response.on('data', (piece) => {
          text += String(piece);
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.once('error', reject).end(body);
    });
  /** Asks as lego does, and reads what it is answered. */
  const ask = async (path: string, payload: object = {}) => {
    const { status, text } = await post(path, signedBy(account, payload));
    return { status, ...(JSON.parse(text) as { [name: string]: unknown }) } as Record<string, unknown>;
  };
  return { relay, account, post, ask, began };
};

test('the relay answers what the account’s key has signed, and nobody else', async () => {
  const { relay, account, post } = await given('a.example');
  for (const body of [
    '',
    '{}',
    'x',
    JSON.stringify({ protected: 'x', payload: 'y', signature: 'z' }),
    signedBy(newKey(), {}),
  ]) {
    const { status, text } = await post('/authorization/0', body);
    expect({ status, text }).toMatchObject({ status: 401, text: expect.not.stringContaining('token 0') });
  }
  const answered = await post('/authorization/0', signedBy(account, {}));
  expect(answered).toMatchObject({ status: 200, text: expect.stringContaining('token 0') });
  expect((await post('/authorization/1', signedBy(account, {}))).status).toBe(403);
  expect((await post('/order', signedBy(account, {}))).status).toBe(403);
  relay.finish();
  expect((await post('/authorization/0', signedBy(account, {}))).text).toContain('"status":"invalid"');
});

test('of several names all but the last are proven at once; in the last one lego waits, told at once that it is heard', async () => {
  const { relay, ask, began } = await given('a.example', 'b.example', 'a.example');
  let isPresented = false;
  void relay.presented.then(() => {
    isPresented = true;
  });
  const ordered = await ask('/new-order', { identifiers: [{ type: 'dns', value: 'a.example' }] });
  expect(ordered).toMatchObject({
    status: 'pending',
    authorizations: [0, 1, 2].map((at) => expect.stringMatching(new RegExp(`/authorization/${at}$`))),
  });
  const wildcards: unknown[] = [];
  for (const at of [0, 1, 2]) {
    const { status, identifier, wildcard, challenges } = await ask(`/authorization/${at}`);
    expect([status, challenges]).toMatchObject([
      'pending',
      [{ type: 'dns-01', status: 'pending', token: `token ${at}` }],
    ]);
    wildcards.push([identifier, wildcard]);
  }
  expect(wildcards).toEqual([
    [{ type: 'dns', value: 'a.example' }, undefined],
    [{ type: 'dns', value: 'b.example' }, undefined],
    [{ type: 'dns', value: 'a.example' }, true],
  ]);
  for (const at of [0, 2]) expect(await ask(`/challenge/${at}`)).toMatchObject({ status: 'valid' });
  expect(await ask('/authorization/0')).toMatchObject({ status: 'valid' });
  expect(isPresented).toBe(false);
  const waiting = ask('/challenge/1');
  await relay.presented;
  await expect.poll(() => began).toContain('/challenge/1');
  const looking = ask('/authorization/1');
  relay.finish();
  expect(await waiting).toMatchObject({ status: 'invalid', error: { detail: 'the records are no longer needed' } });
  expect(await looking).toMatchObject({ status: 'invalid' });
});
