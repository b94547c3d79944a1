import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { eventually } from '../../../../test/support/eventually.ts';
import { connectToRelay, givenRelay, hostHeaders, it, reached, WITH_LIST } from '../testing/given-relay.ts';

givenRelay();

/** Asks for another protocol; resolves with what came back, and the connection. */
const upgrade = async (headers: Record<string, string>, first = ''): Promise<{ head: string; socket: Socket }> => {
  const socket = connectToRelay().on('error', () => {});
  const lines = Object.entries({ Host: 'a.example', Connection: 'Upgrade', Upgrade: 'websocket', ...headers });
  socket.write(`GET /socket HTTP/1.1\r\n${lines.map((line) => `${line.join(': ')}\r\n`).join('')}\r\n${first}`);
  let head = '';
  socket.on('data', (chunk: Buffer) => {
    head += chunk.toString('latin1');
  });
  await Promise.race([eventually(() => head).toContain('\r\n\r\n'), once(socket, 'close')]);
  return { head, socket };
};

test('a connection that speaks another protocol passes what both sides say, once it is judged', async () => {
  const heard: string[] = [];
  const onUpgrade = (incoming: IncomingMessage, socket: Socket, head: Buffer): void => {
    reached.push({ url: incoming.url ?? '', headers: incoming.rawHeaders, body: '' });
    heard.push(head.toString('latin1'));
    socket.write('HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Key: 7\r\n\r\nhello');
    socket.on('data', (chunk: Buffer) => heard.push(chunk.toString('latin1'))).on('error', () => {});
    socket.once('end', () => socket.end('bye'));
  };
  it.origin.on('upgrade', onUpgrade);
  try {
    const { head, socket } = await upgrade(hostHeaders(1), 'early ');
    let all = head;
    socket.on('data', (chunk: Buffer) => {
      all += chunk.toString('latin1');
    });
    const closed = once(socket, 'close');
    await eventually(() => all).toContain('hello');
    const [status, ...headers] = all.split('\r\n\r\n')[0]!.split('\r\n');
    expect(status).toBe('HTTP/1.1 101 Switching');
    expect(headers.sort()).toEqual(['Connection: Upgrade', 'Upgrade: websocket', 'X-Key: 7']);
    socket.end('later');
    await closed;
    expect(heard.join('')).toBe('early later');
    expect(all.endsWith('hellobye')).toBe(true);
    expect(reached[0]!.headers.join('\n')).toContain('X-Sallyport-Client\n192.0.2.9');

    const refused = await upgrade(hostHeaders(1, { 'X-Attack': 'attack' }));
    expect(refused.head).toMatch(/^HTTP\/1\.1 403 .*\r\nX-Sallyport-Refused: waf\r\n/);
    const stranger = hostHeaders(WITH_LIST, { 'X-Sallyport-Client': '203.0.113.9 1', 'X-Sallyport-Judge': '10 5' });
    expect((await upgrade(stranger)).head).toContain('X-Sallyport-Refused: acl');
    // With a body it would be read as something else by somebody: nobody gets it.
    for (const framing of [{ 'Content-Length': '4' }, { 'Transfer-Encoding': 'chunked' }])
      expect((await upgrade({ ...hostHeaders(1), ...framing })).head).toBe('');
    expect(reached).toHaveLength(1);
  } finally {
    it.origin.off('upgrade', onUpgrade);
  }
});

test('an origin that stays with HTTP answers a request for another protocol as any other', async () => {
  const { head, socket } = await upgrade(hostHeaders(1));
  let all = head;
  socket.on('data', (chunk: Buffer) => {
    all += chunk.toString('latin1');
  });
  await eventually(() => all).toContain('fine');
  expect(all).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(reached).toHaveLength(1);
  socket.destroy();
});
