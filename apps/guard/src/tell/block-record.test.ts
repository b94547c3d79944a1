import { VERDICT_SECONDS_BOUNDS } from '@sallyport/contract/values';
import type { Verdict } from '@sallyport/waf';
import { expect, test } from 'vitest';
import { blockRecord, firewallOutcome, type Subject } from './block-record.ts';
import { COUNT_NAMES, createCounter, readCounts, SLAB_LENGTH } from './counts.ts';
import { createLineLimit } from './line-limit.ts';

const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'));
const subject = (more: Partial<Subject> = {}): Subject => ({
  ...{ reference: 'ref', hostId: 7, client: '::ffff:192.0.2.1', method: bytes('GET'), uri: bytes('/a?b') },
  headers: [
    [bytes('X-Host'), bytes('no')],
    [bytes('HOST'), bytes('a.test')],
    [bytes('Host'), bytes('b.test')],
    [bytes('User-Agent'), bytes('curl')],
  ],
  ...more,
});
const outcome = { layer: 'waf', monitored: false, status: 403, reason: 'why', rule_id: 1, matches: [] } as Parameters<
  typeof blockRecord
>[1];

test('a record tells who asked for what, and no more of it than is of use: an attacker chose its length', () => {
  const record = blockRecord(subject(), outcome);
  expect(record).toEqual({
    ...{ ...outcome, type: 'block', reference: 'ref', timestamp: expect.stringMatching(/^\d{4}-.*Z$/) },
    ...{ ip: '192.0.2.1', host: 'a.test', host_id: 7, method: 'GET', request_uri: '/a?b', user_agent: 'curl' },
  });
  const long = 'x'.repeat(10_000);
  const cut = blockRecord(
    {
      ...subject({ reference: long, client: long, method: bytes(long), uri: bytes(long) }),
      headers: [
        [bytes('host'), bytes(long)],
        [bytes('user-agent'), bytes(long)],
      ],
    },
    { ...outcome, reason: long },
  );
  const { reference, ip, method, request_uri, host, user_agent, reason } = cut;
  const lengths = [reference, ip, method, request_uri, host, user_agent, reason].map(({ length }) => length);
  expect(lengths).toEqual([128, 64, 64, 4_096, 255, 1_024, 1_024]);
  const bare = blockRecord(subject({ reference: '', headers: [] }), outcome);
  expect(bare).toMatchObject({ reference: '-', host: '', user_agent: '' });
  // A piece of a larger buffer is told as that piece.
  expect(blockRecord(subject({ uri: bytes('abc/d').subarray(3) }), outcome).request_uri).toBe('/d');
});

test('a verdict is told by the match that decided, as what it did and not as what it would have', () => {
  const match = (id: number, more: object = {}) => ({
    ...{ id, message: `m${id}`, variable: 'v', snippet: 's', severity: 'CRITICAL', isDecisive: false },
    ...more,
  });
  const verdict = (more: object) =>
    firewallOutcome({
      ...{ matches: [match(1), match(2, { isDecisive: true })], ruleId: 2, status: 406, limitsHit: [] },
      ...{ action: 'deny', wouldBe: 'deny', ...more },
    } as unknown as Verdict);
  expect(verdict({})).toMatchObject({ layer: 'waf', monitored: false, status: 406, reason: 'm2', rule_id: 2 });
  expect(verdict({ action: 'pass' })).toMatchObject({ monitored: true, status: 200 });
  expect(verdict({ action: 'pass', wouldBe: 'pass' }).monitored).toBe(false);
  expect(verdict({ matches: [match(3)] }).reason).toBe('m3');
  expect(verdict({ matches: [] }).reason).toBe('a rule matched');
  expect(verdict({ matches: [], limitsHit: ['body', 'time'] }).reason).toBe('limit: body, time');
  const long = 'x'.repeat(2_000);
  const { matches } = verdict({
    matches: Array.from({ length: 101 }, () => match(1, { message: long, variable: long, snippet: long })),
  });
  expect(matches).toHaveLength(100);
  const [first] = matches ?? [];
  expect(first).toEqual({
    ...{ rule_id: 1, severity: 'CRITICAL' },
    ...{ message: long.slice(0, 1_024), variable: long.slice(0, 512), value: long.slice(0, 512) },
  });
});

test('what threads have counted adds up, and a verdict falls in the bucket that it still fits in', () => {
  const slabs = [new Float64Array(SLAB_LENGTH), new Float64Array(SLAB_LENGTH)];
  const [one, other] = slabs.map(createCounter);
  for (const name of COUNT_NAMES) one?.add(name);
  other?.add('blocked');
  const before = readCounts(slabs);
  expect(before).toMatchObject({ ...Object.fromEntries(COUNT_NAMES.map((name) => [name, 1])), blocked: 2 });
  expect(before.verdict_seconds.sum).toBe(0);
  one?.took(0);
  other?.took(1_000_000);
  const { sum, buckets } = readCounts(slabs).verdict_seconds;
  expect([sum, buckets[0], buckets.at(-1)]).toEqual([1_000, 1, 1]);
  const [bound = 0] = VERDICT_SECONDS_BOUNDS;
  for (const seconds of [bound, bound * 1.01]) one?.took(seconds * 1_000);
  expect(readCounts(slabs).verdict_seconds.buckets.slice(0, 2)).toEqual([2, 1]);
  expect(buckets.reduce((total, count) => total + count, 0)).toBe(2);
});

test('of a flood a hundred lines of a turn are told, and as many of the next', async () => {
  const mayTell = createLineLimit();
  const told = () => Array.from({ length: 150 }, mayTell).filter(Boolean).length;
  expect([told(), told()]).toEqual([100, 0]);
  for (const turn of [1, 2]) {
    await new Promise(setImmediate);
    expect(told(), `${turn}`).toBe(100);
  }
});
