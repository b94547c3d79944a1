import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { askLocal } from './local-api.ts';

let handler: RequestListener;
let server: Server;
let port = 0;
beforeAll(async () => {
  server = createServer((request, response) => handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const timeoutMs = 30_000;

test('asks with method, path, headers and a body of JSON, and reads the answer', async () => {
  let seen: unknown;
  handler = async (request, response) => {
    const { method, url, headers } = request;
    const { 'content-type': type, 'content-length': length, 'x-key': key, host } = headers;
    seen = { method, url, type, length, key, host, body: await text(request) };
    response.writeHead(201).end('{"made":"ü"}');
  };
  const asked = { port, path: '/v1/x?y=1', method: 'POST', headers: { 'x-key': 'k' }, body: { a: 'ä' } } as const;
  expect(await askLocal({ ...asked, timeoutMs })).toEqual({ status: 201, body: { made: 'ü' } });
  const json = { type: 'application/json', length: '10', body: '{"a":"ä"}' };
  expect(seen).toEqual({ method: 'POST', url: '/v1/x?y=1', key: 'k', host: `127.0.0.1:${port}`, ...json });
  // A question without a body says nothing of one.
  await askLocal({ port, path: '/', timeoutMs });
  expect(seen).toMatchObject({ method: 'GET', url: '/', type: undefined, length: undefined, body: '' });
});

test('an answer that is no JSON is one without a body', async () => {
  handler = (_request, response) => void response.writeHead(404).end('<h1>not found</h1>');
  expect(await askLocal({ port, path: '/', timeoutMs })).toEqual({ status: 404, body: undefined });
});

test('asks at a Unix socket', () =>
  withTemporaryDirectory(async (directory) => {
    const socketPath = join(directory, 'engine.sock');
    const engine = createServer((_request, response) => void response.end('[1]'));
    await new Promise<void>((resolve) => engine.listen(socketPath, resolve));
    try {
      expect(await askLocal({ socketPath, path: '/', timeoutMs })).toEqual({ status: 200, body: [1] });
    } finally {
      engine.close();
    }
    await expect(askLocal({ socketPath, path: '/', timeoutMs })).rejects.toMatchObject({ code: 'ENOENT' });
  }));

test('takes so many bytes and no more', async () => {
  handler = (_request, response) => void response.end(`"${'x'.repeat(1_000_000)}"`);
  expect(String((await askLocal({ port, path: '/', timeoutMs })).body)).toHaveLength(1_000_000);
  handler = (_request, response) => void response.end('"12345678"');
  expect(await askLocal({ port, path: '/', timeoutMs, limit: 10 })).toMatchObject({ body: '12345678' });
  await expect(askLocal({ port, path: '/', timeoutMs, limit: 9 })).rejects.toThrow('more than 9 bytes');
});

test('does not wait without end, and takes no half of an answer', async () => {
  handler = () => {};
  await expect(askLocal({ port, path: '/', timeoutMs: 50 })).rejects.toThrow();
  handler = (_request, response) => {
    response.writeHead(200, { 'content-length': '10' });
    response.write('1', () => response.destroy());
  };
  await expect(askLocal({ port, path: '/', timeoutMs })).rejects.toThrow();
});

test('is not left waiting by what goes over to another protocol', async () => {
  const switching = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  });
  await new Promise<void>((resolve) => switching.listen(0, '127.0.0.1', resolve));
  const { port: other } = switching.address() as AddressInfo;
  try {
    await expect(askLocal({ port: other, path: '/', timeoutMs })).rejects.toThrow('ended without an answer');
  } finally {
    switching.close();
  }
});
