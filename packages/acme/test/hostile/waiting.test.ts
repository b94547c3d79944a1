import { describe, expect, test } from 'vitest';
import { pauseFor } from '../../src/client/poll.ts';
import { AcmeProblem, AcmeUnreachable, limits } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { CA, pendingAuthorization, scriptedCa } from '../scripted-ca.ts';

const urn = (kind: string) => `urn:ietf:params:acme:error:${kind}`;

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
    // Only who is busy is waited for.
    const refusal = { status: 403, headers: { 'retry-after': '7' }, body: { type: urn('unauthorized'), detail: 'no' } };
    const ca = scriptedCa({ '/authorization': [pending(), refusal] });
    expect(await failure(ca.client().waitForAuthorization(`${CA}/authorization`))).toBeInstanceOf(AcmeProblem);
    expect(ca.pauses).toHaveLength(1);
  });
});
