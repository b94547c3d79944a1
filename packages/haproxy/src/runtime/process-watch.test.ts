import { join } from 'node:path';
import { expect, test } from 'vitest';
import { answerAt } from '../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { watchProcess } from './process-watch.ts';

const watching = (work: (path: string, gone: () => number, onGone: () => void) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    let gone = 0;
    await work(
      join(directory, 'admin.sock'),
      () => gone,
      () => {
        gone++;
      },
    );
  });

test('rejects when nobody listens', () =>
  watching(async (path, _gone, onGone) => {
    await expect(watchProcess(path, onGone)).rejects.toThrow('ENOENT');
  }));

test('asks for a connection that stays, and tells its end once', () =>
  watching(async (path, gone, onGone) => {
    const haproxy = await answerAt(path, () => undefined);
    await watchProcess(path, onGone);
    await expect.poll(() => haproxy.asked).toEqual(['prompt']);
    expect(gone()).toBe(0);
    await haproxy.stop();
    await expect.poll(gone).toBe(1);
  }));

test('an end that was asked for is not told', () =>
  watching(async (path, gone, onGone) => {
    const haproxy = await answerAt(path, () => undefined);
    const [one, other] = await Promise.all([watchProcess(path, onGone), watchProcess(path, onGone)]);
    // A connection is there for who asks before it is for who answers.
    await expect.poll(haproxy.open).toBe(2);
    one.stop();
    await expect.poll(haproxy.open).toBe(1);
    expect(gone()).toBe(0);
    other.stop();
    await haproxy.stop();
    expect(gone()).toBe(0);
  }));
