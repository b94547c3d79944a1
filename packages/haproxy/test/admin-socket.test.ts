import { expect, test } from 'vitest';
import { startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { startAnswerer } from '../../../test/support/stand-still.ts';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { createAdminSocket, RuntimeRefused } from '../src/index.ts';
import { createMapCommands } from '../src/runtime/maps.ts';

const SILENCE_MS = 1_000;

test('an answer that came while this process stood still is taken', () =>
  withTemporaryDirectory(async (directory) => {
    const answerer = await startAnswerer(directory, 'Pid: 7\n', 2 * SILENCE_MS);
    const answer = createAdminSocket({ path: answerer.path, silenceTimeoutMs: SILENCE_MS }).ask({
      words: ['show', 'info'],
    });
    const [outcome] = await Promise.allSettled([answer, answerer.standStillWhileItAnswers()]);
    expect(outcome).toEqual({ status: 'fulfilled', value: 'Pid: 7\n' });
    await answerer.stop();
  }));

test('a HAProxy that takes a command and says nothing is given up', () =>
  withTemporaryDirectory(async (directory) => {
    const answerer = await startAnswerer(directory, '', 0);
    const socket = createAdminSocket({ path: answerer.path, silenceTimeoutMs: 50 });
    await expect(socket.ask({ words: ['show', 'info'] })).rejects.toThrow('silent for 50 ms');
    await answerer.stop();
  }));

test('what HAProxy refuses to list is told to who asks, and ends nothing', async () => {
  const plane = await startDataPlane();
  try {
    const socket = createAdminSocket({ path: plane.settings.adminSocket });
    const map = createMapCommands(socket, 'maps/none.map');
    await expect(map.forEach(() => {})).rejects.toThrow(RuntimeRefused);
  } finally {
    await plane.stop();
  }
});
