import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { checkListener } from './listener.ts';

describe('the second listener', () => {
  const servers: Server[] = [];
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const server of servers.splice(0)) server.close();
  });

  /** Where a peer listens that does this with whoever connects. */
  const given = async (answer: (socket: Socket) => void) => {
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => {});
      socket.once('data', () => answer(socket));
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { host: '127.0.0.1', port: (server.address() as { port: number }).port };
  };
  const http = (body: string) => `HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n${body}`;

  test('is well when the emergency server answers', async () => {
    const bind = await given((socket) => socket.end(http('{"status":"ok","server":"emergency"}')));
    expect(await checkListener(bind)).toMatchObject({ ok: true });
  });

  test.each<[string, (socket: Socket) => void, RegExp]>([
    ['says nothing', () => {}, /no answer within 2 seconds/],
    ['begins an answer and hangs', (socket) => socket.write('HTTP/1.1 200 OK\r\n\r\n{'), /no answer within 2 seconds/],
    ['never stops talking', (socket) => socket.write(http('x'.repeat(100_000))), /its answer does not end/],
    ['hangs up', (socket) => socket.destroy(), /does not answer/],
    ['is another program', (socket) => socket.end(http('hello')), /Something else/],
    ['speaks no HTTP', (socket) => socket.end('SSH-2.0\r\n'), /does not answer/],
  ])('is told when its peer %s', async (_what, answer, told) => {
    expect(await checkListener(await given(answer))).toEqual({ ok: false, message: expect.stringMatching(told) });
  });

  test('is told when nobody listens, and when none is configured', async () => {
    const bind = await given(() => {});
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await checkListener(bind)).toMatchObject({ ok: false });
    expect(await checkListener(undefined)).toEqual({
      ok: false,
      message: expect.stringContaining('SALLYPORT_EMERGENCY_BIND'),
    });
  });
});
