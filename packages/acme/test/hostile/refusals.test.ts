import { describe, expect, test } from 'vitest';
import { AcmeProblem, AcmeProtocolError, limits } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { CA, payloadOf, pendingOrder, scriptedCa } from '../scripted-ca.ts';

const urn = (kind: string) => `urn:ietf:params:acme:error:${kind}`;

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

  test('of giving up an account are told to who wants it gone', async () => {
    const taken = scriptedCa({ '/account/1': { body: { status: 'deactivated' } } });
    await taken.client({ accountUrl: `${CA}/account/1` }).deactivateAccount();
    expect(payloadOf(taken.asked.at(-1)!)).toEqual({ status: 'deactivated' });
    const refused = { status: 500, body: { type: urn('serverInternal'), detail: 'not now' } };
    const ca = scriptedCa({ '/account/1': refused });
    const problem = await failure(ca.client({ accountUrl: `${CA}/account/1` }).deactivateAccount());
    expect(problem).toBeInstanceOf(AcmeProblem);
  });

  test('a status that is none is no answer', async () => {
    const error = await failure(
      scriptedCa({ '/dir': { status: 200.5 } })
        .client()
        .directory(),
    );
    expect((error as Error).message).toContain('the status 200.5');
  });

  test('who asks says so, as RFC 8555 demands', async () => {
    const ca = scriptedCa();
    await ca.client({ userAgent: 'Sallyport/1' }).order(`${CA}/order`);
    for (const { headers } of ca.asked) expect(headers).toMatchObject({ 'user-agent': 'Sallyport/1' });
  });

  test('a nonce that is none is not sent', async () => {
    const ca = scriptedCa({ '/nonce': { headers: { 'replay-nonce': 'a b"' } } });
    const error = await failure(ca.client().newOrder({ names: ['a.example'] }));
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('no nonce');
  });
});
