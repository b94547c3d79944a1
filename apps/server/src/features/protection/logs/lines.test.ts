import fc from 'fast-check';
import { expect, test } from 'vitest';
import { guardBlock } from '../../../testing/guard-line.ts';
import { parseGuardLine } from './guard-line.ts';
import { readProxyLine, toRefusal } from './proxy-line.ts';
import { tellingMatch } from './telling-match.ts';

const parseProxyLine = (line: string) => {
  const read = readProxyLine(line);
  return read && toRefusal(read);
};

const proxyFields = {
  time: '2026-11-20T12:00:00Z',
  client: '203.0.113.7',
  reference: 'ref',
  status: 403,
  refused: 'decision',
  host: 'a',
  host_id: '7',
  method: 'GET',
  uri: '/',
};

test('no text makes the readers throw or yields something of another form', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      const message = parseGuardLine(text);
      if (message) expect(['block', 'log', 'counters']).toContain(message.type);
      const event = parseProxyLine(text);
      if (event) expect(typeof event.reference).toBe('string');
    }),
    { numRuns: 2_000 },
  );
});

test('a field of another type is refused, whichever it is', () => {
  const odd = fc.oneof(fc.constant(null), fc.array(fc.string()), fc.object(), fc.boolean());
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(guardBlock())), odd, (field, value) => {
      fc.pre(field !== 'rule_id' || value !== null);
      fc.pre(field !== 'monitored' || typeof value !== 'boolean');
      fc.pre(field !== 'matches' || !Array.isArray(value) || value.length > 0);
      expect(parseGuardLine(JSON.stringify(guardBlock({ [field]: value })))).toBeUndefined();
    }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(proxyFields)), odd, (field, value) => {
      expect(parseProxyLine(JSON.stringify({ ...proxyFields, [field]: value }))).toBeUndefined();
    }),
  );
});

test('what a client chose stays in its field', () => {
  fc.assert(
    fc.property(fc.string(), fc.string({ maxLength: 300 }), (uri, host) => {
      const event = parseProxyLine(JSON.stringify({ ...proxyFields, uri, host }));
      expect(event).toMatchObject({
        layer: 'decision',
        host_id: 7,
        request_uri: uri.slice(0, 4_096),
        host: host.slice(0, 255),
      });
    }),
  );
});

test('a moment is told as exactly as HAProxy does', () => {
  const line = JSON.stringify({ ...proxyFields, time: '2026-11-20T12:00:00.042Z' });
  expect(parseProxyLine(line)?.timestamp).toBe('2026-11-20T12:00:00.042Z');
});

test('a ban is told with its decision, and a client with what it calls itself', () => {
  const decision = '1e2ddd71-b0cb-4876-9263-26eb9e6221dd';
  const read = (fields: object) => parseProxyLine(JSON.stringify({ ...proxyFields, ...fields }));
  expect(read({ decision: `manual/${decision}`, user_agent: 'curl/8' })).toMatchObject({
    reason: `the address is banned by hand (decision ${decision})`,
    user_agent: 'curl/8',
  });
  expect(read({ decision: `crowdsec/${decision}` })).toMatchObject({
    reason: `the address is banned by CrowdSec (decision ${decision})`,
  });
  // One that HAProxy was given by hand, and a line of a HAProxy that was started before it knew of these fields.
  expect(read({ decision: '-' })).toMatchObject({ reason: 'the address is banned' });
  expect(read({})).toMatchObject({ reason: 'the address is banned', user_agent: '' });
  // HAProxy's word for a header that was not there; guards have an empty one.
  expect(read({ user_agent: '-' })).toMatchObject({ user_agent: '' });
  expect(read({ decision, refused: 'rate_limit' })).toMatchObject({ reason: 'too many requests' });
});

test('a refusal is told with all that HAProxy says, and nothing that it does not', () => {
  const read = (fields: object = {}) => parseProxyLine(JSON.stringify({ ...proxyFields, ...fields }));
  const told = {
    ...{ reference: 'ref', timestamp: '2026-11-20T12:00:00.000Z', layer: 'decision', monitored: false, status: 403 },
    ...{ reason: 'the address is banned', ip: '203.0.113.7', host: 'a', host_id: 7, method: 'GET', request_uri: '/' },
    ...{ user_agent: '', rule_id: null, variable: null, value: null, matches: [] },
  };
  expect(read()).toEqual(told);
  const reason = 'HAProxy does not know what bans and limits there are';
  expect(read({ refused: 'unknown' })).toEqual({ ...told, layer: 'guard', reason });
  for (const refused of ['-', '', 'constructor']) expect(read({ refused })).toBeUndefined();
  for (const host_id of ['0', '-', '', '12345678901', '1x']) expect(read({ host_id })?.host_id).toBeNull();
  // What is no decision of ours is not repeated.
  const uuid = '1e2ddd71-b0cb-4876-9263-26eb9e6221dd';
  for (const decision of [`manual/${uuid}/more`, 'manual/x', uuid]) expect(read({ decision })).toEqual(told);
  const long = read({ method: 'M'.repeat(100), user_agent: 'u'.repeat(2_000), uri: `/${'x'.repeat(5_000)}` });
  expect([long?.method.length, long?.user_agent.length, long?.request_uri.length]).toEqual([64, 1_024, 4_096]);
});

test('a line with a moment that is none, or with more than HAProxy writes, is no line', () => {
  const read = (fields: object) => readProxyLine(JSON.stringify({ ...proxyFields, ...fields }));
  for (const time of ['2026-11-20', '2026-11-20 12:00:00Z', '2026-13-40T12:00:00Z', 'x2026-11-20T12:00:00Z', '']) {
    expect(read({ time })).toBeUndefined();
  }
  for (const [field, most] of [
    ['failure', 256],
    ['tls', 1_024],
    ['origin', 64],
    ['termination', 8],
    ['decision', 128],
  ] as const) {
    expect(read({ [field]: 'x'.repeat(most) })).toBeDefined();
    expect(read({ [field]: 'x'.repeat(most + 1) })).toBeUndefined();
  }
  expect(read({ status: 1_000 })).toBeUndefined();
});

test('of a URI that was cut what is there is told', () => {
  const line = JSON.stringify({ ...proxyFields, uri: '/path?q="1"' });
  const cut = (before: string) => parseProxyLine(line.slice(0, line.indexOf(before)))?.request_uri;
  expect(cut('th?q')).toBe('/pa');
  // Within an escape.
  expect(parseProxyLine(line.slice(0, line.indexOf('\\"1') + 1))?.request_uri).toBe('/path?q=');
});

test('a line that was cut anywhere behind the start of its URI still tells of the refusal', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), fc.nat(), (uri, cut) => {
      const line = JSON.stringify({ ...proxyFields, uri });
      const start = line.indexOf('"uri":"') + '"uri":"'.length;
      const event = parseProxyLine(line.slice(0, start + (cut % (line.length - start))));
      expect(event).toMatchObject({ reference: 'ref', layer: 'decision', host: 'a' });
      expect(uri.startsWith(event?.request_uri ?? '?')).toBe(true);
    }),
  );
});

test('a client can not write other fields into the line by what it asks for', () => {
  const line = JSON.stringify({ ...proxyFields, host: 'x","uri":"/","refused":"', uri: '","refused":"rate_limit' });
  for (let end = 1; end < line.length; end += 1) {
    expect(parseProxyLine(line.slice(0, end))?.layer ?? 'decision').toBe('decision');
  }
});

test('what explains a refusal is the rule that found something, not the one that counted', () => {
  const { matches } = guardBlock();
  expect(tellingMatch(matches, 949110)?.rule_id).toBe(942100);
  const own = { rule_id: 1001, message: '', variable: 'ARGS:x', value: 'x', severity: null };
  expect(tellingMatch([...matches, own], 1001)?.rule_id).toBe(1001);
  expect(tellingMatch(matches.slice(1), 949110)?.rule_id).toBe(949110);
  expect(tellingMatch([], 949110)).toBeUndefined();
  // The worst of several; rules without a number say nothing of what was found.
  const found = (rule_id: number, severity: number | null) => ({ ...own, rule_id, severity });
  expect(tellingMatch([found(0, 0), found(1, null), found(2, 4), found(3, 2), found(949110, 0)], null)?.rule_id).toBe(
    3,
  );
  expect(tellingMatch([found(949110, 0), found(980130, 1)], null)?.rule_id).toBe(949110);
  expect(tellingMatch([found(1, null), found(2, 6)], null)?.rule_id).toBe(2);
});
