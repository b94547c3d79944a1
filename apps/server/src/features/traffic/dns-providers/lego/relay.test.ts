import { generateKeyPairSync, sign } from 'node:crypto';
import { request } from 'node:https';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { expect, onTestFinished, test } from 'vitest';
import { readAccountKey } from './account-key.ts';
import { startRelay } from './relay.ts';

const newKey = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

test('the relay answers what the account’s key has signed, and nobody else', async () => {
  const { certificate, key } = await createSelfSignedCertificate({
    names: ['127.0.0.1'],
    validFrom: new Date(),
    validDays: 1,
  });
  const account = newKey();
  const { publicKey } = readAccountKey(account.export({ format: 'pem', type: 'pkcs8' }) as string);
  const challenges = [{ domain: 'a.example', token: 'the token', value: 'v' }];
  const relay = await startRelay({ challenges, publicKey, certificate, key });
  onTestFinished(() => relay.stop());
  const post = (path: string, body: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const asked = request(new URL(path, relay.url), { method: 'POST', ca: certificate, agent: false }, (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += String(piece);
        });
        response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
      });
      asked.once('error', reject).end(body);
    });
  const signedBy = (by: typeof account, payload: object): string => {
    const [head = '', text = ''] = [{ alg: 'ES256' }, payload].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    );
    const signature = sign('sha256', Buffer.from(`${head}.${text}`), { key: by, dsaEncoding: 'ieee-p1363' });
    return JSON.stringify({ protected: head, payload: text, signature: signature.toString('base64url') });
  };
  for (const body of [
    '',
    '{}',
    'x',
    JSON.stringify({ protected: 'x', payload: 'y', signature: 'z' }),
    signedBy(newKey(), {}),
  ]) {
    const { status, text } = await post('/authorization/0', body);
    expect({ status, text }).toMatchObject({ status: 401, text: expect.not.stringContaining('the token') });
  }
  const answered = await post('/authorization/0', signedBy(account, {}));
  expect(answered).toMatchObject({ status: 200, text: expect.stringContaining('the token') });
  expect((await post('/authorization/1', signedBy(account, {}))).status).toBe(403);
  expect((await post('/order', signedBy(account, {}))).status).toBe(403);
  relay.finish();
  expect((await post('/authorization/0', signedBy(account, {}))).text).toContain('"status":"invalid"');
});
