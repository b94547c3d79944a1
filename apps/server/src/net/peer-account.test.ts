import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isRoot } from '../../../../test/support/is-root.ts';
import { isPersonsConnection, peerUid } from './peer-account.ts';

let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer();
  // Takes IPv4 as well, whose connections the kernel keeps in the table of IPv6 or in their own.
  await new Promise<void>((resolve) => server.listen(0, '::', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => void server.close());

const accepted = async (): Promise<Socket> => {
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => {});
  return socket;
};

test.each(['127.0.0.1', '127.8.9.10', '::1'])('our own connection to %s is told by our own account', async (host) => {
  const coming = accepted();
  const client = connect({ host, port });
  const socket = await coming;
  expect(peerUid(socket)).toBe(process.getuid?.());
  expect(isPersonsConnection(socket)).toBe(true);
  client.destroy();
  socket.destroy();
});

test('what nobody holds any more is nobody’s, though the kernel shows it as that of root', async () => {
  const coming = accepted();
  const client = connect({ host: '127.0.0.1', port });
  const socket = await coming;
  client.destroy();
  await expect.poll(() => peerUid(socket)).toBeUndefined();
  expect(isPersonsConnection(socket)).toBe(false);
  socket.destroy();
});

test('a connection that is none has no account', () => {
  expect(peerUid(new Socket())).toBeUndefined();
  expect(isPersonsConnection(new Socket())).toBe(false);
});

test.skipIf(!isRoot).each([
  [0, true],
  [33, false],
  [999, false],
  [1_000, true],
  [59_999, true],
  [60_000, false],
  [65_534, false],
])('what the account %i makes is a person’s or root’s: %s', async (uid, isPersons) => {
  const coming = accepted();
  const child = spawn('/bin/bash', ['-c', 'exec 3<>"/dev/tcp/127.0.0.1/$1"; read -r _ <&3', 'bash', String(port)], {
    uid,
    gid: uid,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const ended = once(child, 'close');
  const socket = await coming;
  expect(peerUid(socket)).toBe(uid);
  expect(isPersonsConnection(socket)).toBe(isPersons);
  // Asked once: the answer stays, whoever holds the other end by then.
  socket.end('\n');
  await ended;
  expect(isPersonsConnection(socket)).toBe(isPersons);
  socket.destroy();
});
