import { expect, test } from 'vitest';
import type { StoredCertificate, StoredKeeping } from './store.ts';
import { toWire } from './wire.ts';

const now = new Date('2026-06-01T00:00:00Z');
const certificate = (is_placeholder: 0 | 1): StoredCertificate => ({
  ...{ id: 1, uuid: 'u', name: 'a.test', provider: 'letsencrypt', domains: 'a.test', chain_pem: '', key_sealed: '' },
  ...{
    not_before: '2026-05-01T00:00:00Z',
    expires_at: '2026-07-01T00:00:00Z',
    created_at: '2026-05-01T00:00:00Z',
    revoked_at: null,
  },
  is_placeholder,
});
const keeping = (issue: string | null): StoredKeeping => ({
  ...{ certificate_id: 1, issuer: 'acme', account_id: 1, account: 'A', dns_provider_id: null, dns_provider: null },
  ...{ challenge: 'http-01', key_type: 'p256', is_auto: 0, issue, problem: null },
  steps: JSON.stringify([{ name: 'install', status: 'failed', message: 'the proxy lacks it yet' }]),
  ...{ last_attempt_at: null, next_attempt_at: null, renew_after: null, revocation_asked_at: null },
});
const lacks = { applied: false, issue: 'HAProxy is not running' };
const has = { applied: true, issue: null };

test('an issue begins with why there is no successor, which is not that HAProxy is away', () => {
  const issue = (...[is_placeholder, failed, state]: [0 | 1, string | null, typeof lacks | typeof has]) =>
    toWire(certificate(is_placeholder), keeping(failed), state, now).issue;
  expect(issue(0, 'No account', lacks)).toBe(
    'No account. Besides, the proxy lacks the one that is there: HAProxy is not running',
  );
  expect(issue(0, 'No account', has)).toBe('No account');
  expect(issue(0, null, lacks)).toBe('HAProxy is not running');
  expect(issue(1, 'No account', lacks)).toBe('No account');
  expect(issue(0, null, has)).toBeNull();
});

test('a certificate that the proxy lacked at first is there once the proxy has it, in its steps as well', () => {
  expect(toWire(certificate(0), keeping(null), lacks, now).steps[0]?.status).toBe('failed');
  expect(toWire(certificate(0), keeping(null), has, now).steps[0]).toMatchObject({
    status: 'done',
    message: 'The proxy serves it.',
  });
});

test('what is shown of a certificate is how it is there, kept, ended or revoked', () => {
  const revoked_at = '2026-05-09T00:00:00Z';
  const shown = (more: Partial<StoredCertificate>, kept?: Partial<StoredKeeping>) =>
    toWire({ ...certificate(0), ...more }, kept && { ...keeping(null), ...kept }, has, now);
  expect(shown({})).toMatchObject({ status: 'valid', issue: null, source: null, steps: [], renew_after: null });
  // What ends now is over, and what begins now is valid.
  for (const at of [now.toISOString(), '2026-05-31T00:00:00Z'])
    expect(shown({ expires_at: at }).issue).toBe(`The certificate expired on ${at}`);
  expect(shown({ not_before: now.toISOString() }).issue).toBeNull();
  expect(shown({ not_before: '2026-06-02T00:00:00Z' }).issue).toContain('is not valid before 2026-06-02');
  expect(shown({ revoked_at })).toMatchObject({ status: 'revoked', issue: expect.stringContaining(revoked_at) });
  expect(shown({}, { revocation_asked_at: revoked_at }).issue).toMatch(
    /^Its authority was asked to revoke it on 2026-05-09/,
  );
  expect(shown({}, { revocation_asked_at: revoked_at, issue: 'No account' }).issue).toMatch(
    /asked again\. No account$/,
  );
  const [ordered, failed] = [shown({ is_placeholder: 1, expires_at: revoked_at }, {}), shown({ is_placeholder: 1 })];
  expect(ordered).toMatchObject({ status: 'pending', applied: false, expires_at: null, issue: null });
  expect(failed.status).toBe('failed');
  const from = { issuer: 'acme', account_id: 1, account: 'A', dns_provider_id: 3, dns_provider: 'D' };
  const steps = [
    { name: 'order', status: 'failed', message: 'm' },
    { name: 'install', status: 'skipped', message: 'n' },
  ];
  const kept = { ...from, is_auto: 1, steps: JSON.stringify(steps), problem: '{"type":"t"}', renew_after: revoked_at };
  expect(shown({}, { ...kept, last_attempt_at: revoked_at, next_attempt_at: revoked_at })).toMatchObject({
    source: { ...from, challenge: 'http-01', key_type: 'p256', is_auto: true },
    ...{ steps, problem: { type: 't' } },
    ...{ last_attempt_at: revoked_at, next_attempt_at: revoked_at, renew_after: revoked_at },
  });
});
