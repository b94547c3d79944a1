import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import {
  type Answered,
  answerTo,
  ask,
  begin,
  count,
  ended,
  givenRelay,
  hostHeaders,
  INSPECTED,
  it,
  policyOf,
  reached,
  refusal,
  SMALL,
  told,
  WITH_LIST,
  WITHOUT_FIREWALL,
} from '../testing/given-relay.ts';
import { OFFICE } from '../testing/office.ts';

givenRelay();

test('a request that passes reaches its origin as it was, and its answer the client', async () => {
  it.answer = (_incoming, response) => {
    response.sendDate = false;
    response.writeHead(418, 'Short and stout', [
      ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Sallyport-Refused', 'waf'],
      ...['Connection', 'close', 'Trailer', 'X-Sum', 'Transfer-Encoding', 'chunked'],
    ]);
    response.write('an ');
    response.addTrailers({ 'X-Sum': '7' });
    response.end('answer');
  };
  const headers = hostHeaders(1, { 'X-Own': 'value', 'Accept-Encoding': 'gzip', TE: 'gzip' });
  const answered = await ask({ headers, body: 'a body' });
  expect(answered).toMatchObject({ status: 418, reason: 'Short and stout', body: 'an answer', isWhole: true });
  expect(answered.headers['set-cookie']).toEqual(['a=1', 'b=2']);
  // Names that only we may give to HAProxy, and a date that nobody has sent.
  expect(answered.headers).not.toHaveProperty('x-sallyport-refused');
  expect(answered.headers).not.toHaveProperty('date');
  expect(answered.trailers).toEqual({ 'x-sum': '7' });
  const [arrived] = reached;
  expect(arrived).toMatchObject({ url: '/path?a=b', body: 'a body' });
  const pairs = Object.fromEntries(
    arrived!.headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), arrived!.headers[at + 1]]] : [])),
  );
  expect(pairs).toMatchObject({
    'x-own': 'value',
    'accept-encoding': 'gzip',
    'content-length': '6',
    'x-sallyport-client': '192.0.2.9',
    'x-sallyport-route': 'a|b|c|d|1',
  });
  for (const name of ['x-sallyport-judge', 'te', 'expect']) expect(pairs).not.toHaveProperty(name);
  expect(arrived!.headers.filter((name) => /^(content-length|x-sallyport-client)$/i.test(name))).toHaveLength(2);
  expect([told, count('unjudged')]).toEqual([[], 0]);
});

test.each([
  ['attack', 406, undefined],
  ['move', 302, 'https://login.example/'],
  ['cut', 403, undefined],
])('a body with %j never reaches the origin', async (body, status, location) => {
  const answered = await ask({ body });
  expect(answered.headers.location).toBe(location);
  expect(refusal(answered)).toEqual([status, location === undefined ? 'waf' : undefined]);
  expect(answered.body).toBe('');
  expect(reached).toEqual([]);
});

const unheard: [what: string, headers: Record<string, string>][] = [
  ['of no host', { 'X-Sallyport-Route': 'a|b|c|d' }],
  ['of a host that is no number', { 'X-Sallyport-Route': 'a|b|c|d|x' }],
  ['of host 0', { 'X-Sallyport-Route': 'a|b|c|d|0' }],
  ['of half a host', { 'X-Sallyport-Route': 'a|b|c|d|1.5' }],
  ['of nobody', { 'X-Sallyport-Client': '' }],
  ['without a word about what to judge', { 'X-Sallyport-Judge': '' }],
  ['with more than a word', { 'X-Sallyport-Judge': '0 5 1' }],
  ['that starts with more than a word', { 'X-Sallyport-Judge': '1 0 5' }],
  ['for rules that are not here yet', { 'X-Sallyport-Judge': '0 6' }],
  ['for a list that is not here', { 'X-Sallyport-Judge': '10 5' }],
];
test.each(unheard)('a request %s is refused, and counted', async (_what, headers) => {
  expect(refusal(await ask({ headers: hostHeaders(1, headers) }))).toEqual([503, 'guard']);
  expect([count('unjudged'), it.saved]).toEqual([1, 1]);
  expect(reached).toEqual([]);
});

test('without a configuration nothing passes', async () => {
  it.policy = undefined;
  expect(refusal(await ask())).toEqual([503, 'guard']);
  expect([count('unjudged'), reached]).toEqual([1, []]);
});

test('who is not on the list is refused before the body is read, or after it when the list has changed meanwhile', async () => {
  const stranger = { 'X-Sallyport-Client': '203.0.113.9 1 192.0.2.1 443', 'X-Sallyport-Judge': '10 5' };
  const member = { 'X-Sallyport-Judge': '10 5' };
  expect(refusal(await ask({ headers: hostHeaders(WITH_LIST, stranger) }))).toEqual([403, 'acl']);
  expect(it.saved).toBe(1);
  expect((await ask({ headers: hostHeaders(WITH_LIST, member) })).status).toBe(200);
  expect(reached).toHaveLength(1);

  const early = begin({ headers: { ...hostHeaders(WITH_LIST, stranger), 'Content-Length': '100' } });
  const answered = answerTo(early);
  early.write('some of it');
  await expect(answered.then(refusal)).resolves.toEqual([403, 'acl']);
  early.destroy();

  const late = begin({ headers: { ...hostHeaders(WITH_LIST, member), 'Content-Length': '10' } });
  const afterwards = answerTo(late);
  late.write('first');
  await eventually(it.places.inUse).toBe(1);
  it.policy = policyOf({
    revision: 6,
    access: { enabled: true, lists: [{ ...OFFICE, rules: [{ cidr: '198.51.100.0/24' }] }] },
  });
  late.end('secon');
  expect(refusal(await afterwards)).toEqual([403, 'acl']);
  expect(told.map(({ layer }) => layer)).toEqual(['acl', 'acl', 'acl']);
  expect(reached).toHaveLength(1);
});

test('a body is as long as it may be, however it says how long it is', async () => {
  const headers = { ...hostHeaders(SMALL), 'Content-Type': 'text/plain' };
  const chunked = async (bytes: number): Promise<Answered> => {
    const asking = begin({ headers: { ...headers, 'Transfer-Encoding': 'chunked' } });
    const answered = answerTo(asking);
    asking.end('x'.repeat(bytes));
    return answered;
  };
  expect((await ask({ headers, body: 'x'.repeat(1_000) })).status).toBe(200);
  expect((await chunked(1_000)).status).toBe(200);
  expect(reached.map(({ body }) => body.length)).toEqual([1_000, 1_000]);
  expect([count('blocked'), told]).toEqual([0, []]);
  expect(refusal(await ask({ headers, body: 'x'.repeat(1_001) }))).toEqual([413, 'waf']);
  expect(refusal(await chunked(1_001))).toEqual([413, 'waf']);
  expect(reached).toHaveLength(2);
  const expected = { layer: 'waf', status: 413, monitored: false, rule_id: null, host_id: SMALL };
  expect(told).toMatchObject([expected, expected]);
  expect(told.map(({ reason }) => reason)).toEqual(Array(2).fill('the body has more than 1000 bytes'));
  expect([count('requests'), count('blocked'), count('unjudged'), it.saved]).toEqual([2, 2, 0, 2]);
});

test('a client that waits to be told is told to send, unless it is refused', async () => {
  const going = begin({ headers: { ...hostHeaders(1), Expect: '100-continue', 'Content-Length': '4' } });
  const answered = answerTo(going);
  going.once('continue', () => going.end('body'));
  going.flushHeaders();
  expect((await answered).status).toBe(200);
  expect(reached).toHaveLength(1);

  const refused = begin({ headers: { ...hostHeaders(SMALL), Expect: '100-continue', 'Content-Length': '5000' } });
  let wasTold = false;
  refused.once('continue', () => {
    wasTold = true;
  });
  const early = answerTo(refused);
  refused.flushHeaders();
  expect(refusal(await early)).toEqual([413, 'waf']);
  expect(wasTold).toBe(false);
  refused.destroy();
});

test('a host whose firewall is off has its requests passed on unread', async () => {
  expect((await ask({ headers: hostHeaders(WITHOUT_FIREWALL), body: 'attack' })).status).toBe(200);
  expect(reached).toHaveLength(1);
});

test('a HAProxy that does not answer is no fault of the guard, and the client is told', async () => {
  it.answer = (incoming) => incoming.socket.destroy();
  expect(refusal(await ask())).toEqual([503, 'guard']);
  expect([count('unjudged'), it.saved]).toEqual([0, 1]);
});

test('a long body reaches the origin whole, and may be answered before it is read', async () => {
  const body = `${'0123456789'.repeat(50_000)}end`;
  it.answer = (_incoming, response, got) => response.end(got === body ? 'the same' : 'another');
  expect(await ask({ body })).toMatchObject({ status: 200, body: 'the same' });
  expect(refusal(await ask({ body: `${body} attack` }))).toEqual([406, 'waf']);
  expect(reached).toHaveLength(1);

  const early = (_incoming: IncomingMessage, response: ServerResponse): void =>
    void response.writeHead(413, { Connection: 'close' }).end('too much');
  it.origin.on('checkContinue', early);
  try {
    expect(await ask({ body })).toMatchObject({ status: 413, body: 'too much' });
  } finally {
    it.origin.off('checkContinue', early);
  }
});

test('a client that hangs up has its request ended, and was not refused anything', async () => {
  it.answer = () => {};
  const asking = begin({ headers: INSPECTED, method: 'GET', path: '/slow' }).on('error', () => {});
  asking.end();
  await eventually(() => reached.length).toBe(1);
  asking.destroy();
  await eventually(() => ended).toEqual(['/slow']);
  await eventually(it.places.inUse).toBe(0);

  const half = begin({ headers: { ...hostHeaders(1), 'Content-Length': '100' } }).on('error', () => {});
  half.write('some');
  await eventually(it.places.inUse).toBe(1);
  half.destroy();
  await eventually(it.places.inUse).toBe(0);
  expect([count('unjudged'), it.saved, reached.length]).toEqual([0, 0, 1]);
});

test('who asks for the health of the guard is told; what HAProxy sends is a request', async () => {
  const health = async () => (await ask({ path: '/health', headers: {} })).status;
  expect(await health()).toBe(200);
  it.isReady = false;
  expect(await health()).toBe(503);
  expect((await ask({ path: '/health' })).body).toBe('fine');
  expect(refusal(await ask({ path: '/other', headers: {} }))).toEqual([503, 'guard']);
  expect(reached.map(({ url }) => url)).toEqual(['/health']);
});
