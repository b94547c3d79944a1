import { AcmeEnded, AcmeProblem, AcmeProtocolError, AcmeUnreachable } from '@sallyport/acme';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { SecretLost } from '../../lost-secret.ts';
import { CannotOrder, explain, ValidationFailed } from './failure.ts';
import { LimitReached } from './ledger/limits.ts';

const URL_OF_IT = 'https://ca.example/order/1';
const LATER = new Date('2026-11-22T12:00:00Z');
const LATEST = new Date('2026-11-23T12:00:00Z');
const problem = (
  kind: string,
  how: { retryAfter?: Date; isVerdict?: boolean; status?: number; detail?: string } = {},
) =>
  new AcmeProblem(
    {
      ...{ type: `urn:ietf:params:acme:error:${kind}`, detail: how.detail ?? 'so it is' },
      ...{ status: how.status ?? 400, subproblems: [{ name: 'a.test', type: 'x', detail: 'y' }] },
    },
    URL_OF_IT,
    how,
  );

test('an order is taken up again unless its authority is done with it, or can not be believed', () => {
  const ended = (error: unknown) => explain(error).isOrderOver;
  for (const kind of ['rateLimited', 'serverInternal', 'badNonce', 'orderNotReady']) {
    expect(ended(problem(kind))).toBe(false);
    expect(ended(problem(kind, { isVerdict: true }))).toBe(true);
  }
  expect(ended(problem('malformed', { status: 499 }))).toBe(true);
  expect(ended(problem('malformed', { status: 500 }))).toBe(false);
  expect(ended(new AcmeProtocolError(URL_OF_IT, 'no JSON'))).toBe(true);
  expect(ended(new AcmeEnded(URL_OF_IT, 'the order', 'invalid'))).toBe(true);
  expect(ended(refuse.invalid('it expired'))).toBe(true);
  expect(ended(new AcmeUnreachable(URL_OF_IT, 'no route'))).toBe(false);
  expect(ended(new LimitReached('five a week', LATER))).toBe(false);
  expect(ended(new CannotOrder('no provider'))).toBe(false);
  expect(ended(new Error('our own fault'))).toBe(false);
});

test('it is not tried before the authority wants to hear of it', () => {
  const notBefore = (error: unknown) => explain(error).notBefore;
  expect(notBefore(problem('rateLimited', { retryAfter: LATER }))).toEqual(LATER);
  expect(notBefore(new AcmeUnreachable(URL_OF_IT, 'busy', { retryAfter: LATER }))).toEqual(LATER);
  expect(notBefore(new LimitReached('five a week', LATER))).toEqual(LATER);
  const failures = [LATER, LATEST, undefined].map((retryAfter, index) => ({
    name: `n${index}.test`,
    error: problem('connection', retryAfter && { retryAfter }),
  }));
  expect(notBefore(new ValidationFailed(failures))).toEqual(LATEST);
  expect(notBefore(new CannotOrder('no provider'))).toBeUndefined();
});

test('what is told says what it is and what to do about it', () => {
  const issue = (error: unknown) => explain(error).issue;
  expect(issue(problem('caa'))).toMatch(/^The authority refuses: so it is – a CAA record/);
  expect(issue(problem('rateLimited', { detail: '' }))).toMatch(
    /^The authority refuses: rateLimited – the authority has/,
  );
  expect(issue(problem('compound'))).toBe('The authority refuses: so it is');
  expect(issue(new AcmeEnded(URL_OF_IT, 'the order', 'invalid'))).toBe(
    'At the authority the order is invalid: another order is made',
  );
  expect(issue(new AcmeUnreachable(URL_OF_IT, 'no route'))).toMatch(
    /^The authority could not be reached: .*no route – it is/,
  );
  expect(issue(new CannotOrder('no provider'))).toBe('no provider');
  expect(issue(new SecretLost('Its key', 'add another', new Error('lost')))).toBe(
    'Its key can not be opened (lost): put that encryption key back, or add another',
  );
  expect(issue(refuse.invalid('it expired'))).toMatch(/^What the authority gave is not taken: it expired/);
  const unwritten = Object.assign(new Error('no such zone'), { name: 'DnsWriteFailed' });
  expect(issue(unwritten)).toMatch(/^The record that proves the names could not be written: no such zone/);
  expect(issue(new Error('x'))).toBe('It failed for a reason of our own: x');

  const names = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, error: problem('dns') }));
  expect(issue(new ValidationFailed(names.slice(0, 3)))).toMatch(
    /a: so it is; b: so it is; c: so it is – look at the DNS/,
  );
  expect(issue(new ValidationFailed(names))).toMatch(/c: so it is; and 2 more – look at the DNS/);
});

test('the document of the authority is kept as it came', () => {
  const document = { type: 'urn:ietf:params:acme:error:caa', detail: 'so it is', status: 400 };
  const subproblems = [{ name: 'a.test', type: 'x', detail: 'y' }];
  expect(explain(problem('caa')).problem).toEqual({ ...document, subproblems });
  expect(explain(problem('caa', { status: 0 })).problem?.status).toBeNull();
  const failed = new ValidationFailed([
    { name: 'ended.test', error: new AcmeEnded(URL_OF_IT, 'the authorization', 'expired') },
    { name: 'b.test', error: problem('caa') },
  ]);
  const own = [{ name: 'b.test', type: document.type, detail: 'so it is' }];
  expect(explain(failed).problem).toEqual({ ...document, subproblems: own });
  expect(explain(new ValidationFailed(failed.failures.slice(0, 1))).problem).toBeNull();
});
