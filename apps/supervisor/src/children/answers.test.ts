import { once } from 'node:events';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startAnswerer } from '../../../../test/support/stand-still.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { answersHttp, answersLine } from './answers.ts';

const listening = async (server: Server, where: string | number): Promise<Server> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  if (typeof where === 'number') server.listen(where, '127.0.0.1');
  else server.listen(where);
  await once(server, 'listening');
  return server;
};

const askLine = (serve: ((socket: Socket) => void) | undefined) =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'socket');
    if (serve) await listening(createServer(serve), path);
    return answersLine(path, 'how are you');
  });

/** On a machine that has no time for it, an answer may take longer than it is waited for. */
const answersInTime = (asked: () => Promise<boolean>) => expect.poll(asked).toBe(true);

describe('a sign of life by a line', () => {
  test('is whatever is said to the question', async () => {
    const heard: string[] = [];
    const serve = (socket: Socket) =>
      socket.on('data', (chunk) => {
        heard.push(String(chunk));
        socket.write('x');
      });
    await answersInTime(() => askLine(serve));
    expect(new Set(heard)).toEqual(new Set(['how are you\n']));
  });

  test('is none where nobody listens, or hangs up without a word', async () => {
    expect(await askLine(undefined)).toBe(false);
    expect(await askLine((socket) => socket.end())).toBe(false);
    expect(await askLine((socket) => socket.destroy())).toBe(false);
  });
});

describe('while the supervisor stands still', () => {
  // More than it waits for an answer.
  const STILL_MS = 1_500;

  test('an answer that comes is one', () =>
    answersInTime(() =>
      withTemporaryDirectory(async (directory) => {
        const answerer = await startAnswerer(directory, 'x', STILL_MS);
        const isAlive = answersLine(answerer.path, 'how are you');
        await answerer.standStillWhileItAnswers();
        const answered = await isAlive;
        await answerer.stop();
        return answered;
      }),
    ));
});

describe('a sign of life by HTTP', () => {
  const ask = async (serve: RequestListener) => {
    const address = (await listening(createHttpServer(serve), 0)).address();
    return answersHttp(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/health`);
  };

  test('is success and nothing else', async () => {
    const answers = [204, 302, 404, 500, 503].map((status) => ask((_, response) => response.writeHead(status).end()));
    expect(await Promise.all(answers)).toEqual([false, false, false, false, false]);
    const paths: unknown[] = [];
    await answersInTime(() =>
      ask(({ method, url, headers }, response) => {
        paths[0] = [method, url, headers.connection];
        response.end();
      }),
    );
    // No connection is kept, which would outlive the child.
    expect(paths).toEqual([['GET', '/health', 'close']]);
  });

  test('is none where the connection is refused, cut or kept without a word, by a line neither', async () => {
    const none = await Promise.all([
      askLine((socket) => socket.resume()),
      answersHttp('http://127.0.0.1:1/'),
      ask(({ socket }) => socket.destroy()),
      ask(() => {}),
    ]);
    expect(none).toEqual([false, false, false, false]);
  });
});
