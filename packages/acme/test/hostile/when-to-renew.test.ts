import { describe, expect, test } from 'vitest';
import { AcmeProtocolError } from '../../src/index.ts';
import { authorityKeyIs, certify } from '../certify.ts';
import { failure } from '../failure.ts';
import { DIRECTORY, scriptedCa } from '../scripted-ca.ts';

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
