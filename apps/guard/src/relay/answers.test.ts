import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { answerTo, ask, begin, count, givenRelay, INSPECTED, it, reached, refusal } from '../testing/given-relay.ts';

givenRelay();

test.each([['text/html'], ['text/plain; charset=utf-8'], ['TEXT/XML'], [' application/json ']])(
  'an answer of type %j is read before the client sees any of it',
  async (type) => {
    it.answer = (_incoming, response) => response.writeHead(200, { 'Content-Type': type }).end('leaked');
    expect(refusal(await ask({ headers: INSPECTED }))).toEqual([403, 'waf']);
    // The origin was not offered what nobody could read.
    expect(reached[0]!.headers.join('\n').toLowerCase()).not.toContain('accept-encoding');
    expect((await ask()).body).toBe('leaked');
    it.answer = (_incoming, response) => response.writeHead(200, { 'Content-Type': type }).end('fine');
    expect(await ask({ headers: INSPECTED })).toMatchObject({ status: 200, body: 'fine', isWhole: true });
  },
);

test.each([
  ['image/png', {}],
  ['text/html', { 'Content-Encoding': 'gzip' }],
  ['', {}],
])(
  'an answer of type %j with %j is passed on unread, but for its headers',
  async (type, more: Record<string, string>) => {
    let extra = {};
    it.answer = (_incoming, response) =>
      response.writeHead(200, { ...(type && { 'Content-Type': type }), ...more, ...extra }).end('leaked');
    expect((await ask({ headers: INSPECTED })).body).toBe('leaked');
    extra = { 'X-Leak': 'secret' };
    expect(refusal(await ask({ headers: INSPECTED }))).toEqual([403, 'waf']);
  },
);

test('an answer that says it is not encoded is read', async () => {
  it.answer = (_incoming, response) =>
    response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Encoding': 'Identity' }).end('leaked');
  expect(refusal(await ask({ headers: INSPECTED }))).toEqual([403, 'waf']);
});

test('of an answer longer than what is read, the rest follows whole', async () => {
  const rest = 'y'.repeat(2_000_000);
  let beginning = 'x'.repeat(1_000_000);
  it.answer = (_incoming, response) =>
    response.writeHead(200, { 'Content-Type': 'text/plain', 'X-Bytes': '3' }).end(beginning + rest);
  const answered = await ask({ headers: INSPECTED });
  expect([answered.status, answered.isWhole, answered.body === beginning + rest]).toEqual([200, true, true]);
  beginning = `${'x'.repeat(1_000_000)}leaked`;
  expect(refusal(await ask({ headers: INSPECTED }))).toEqual([403, 'waf']);
});

test('an answer that comes in pieces is not held back for ever', async () => {
  let finish: () => void = () => {};
  it.answer = (_incoming, response) => {
    response.writeHead(200, { 'Content-Type': 'text/plain' });
    response.write('first ');
    finish = () => response.end('second');
  };
  const asking = begin({ headers: INSPECTED, method: 'GET' });
  const answered = answerTo(asking);
  // It comes although nothing follows yet.
  asking.once('response', () => finish());
  asking.end();
  expect(await answered).toMatchObject({ status: 200, body: 'first second', isWhole: true });
});

test('an origin that breaks off is told from one that has ended', async () => {
  const half = (response: ServerResponse): void => {
    response.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100' });
    response.write('half', () => response.destroy());
  };
  it.answer = (_incoming, response) => half(response);
  // While it is read: nothing was sent yet.
  expect(refusal(await ask({ headers: INSPECTED }))).toEqual([502, 'origin']);
  // And unread: half an answer must not look like a whole one.
  const broken = await ask().catch((error: Error) => error);
  if (!(broken instanceof Error)) expect(broken).toMatchObject({ isWhole: false });
  expect(count('unjudged')).toBe(0);
});
