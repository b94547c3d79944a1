import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { adminSocket, masterSocket } from '@sallyport/deployment/places';
import { expect, test } from 'vitest';
import { answerAt, processInfo } from '../../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { reloadHaproxy } from './reload.ts';

test('a HAProxy whose worker answers before its master listens is reloaded all the same', () =>
  withTemporaryDirectory(async (dataDir) => {
    mkdirSync(dirname(adminSocket(dataDir)), { recursive: true });
    let pid = 7;
    const worker = await answerAt(adminSocket(dataDir), () => processInfo(pid));
    const reloading = reloadHaproxy(dataDir);
    // Should the test end before it is waited for.
    reloading.catch(() => undefined);
    await expect.poll(() => worker.asked).toEqual(['show info']);
    const master = await answerAt(masterSocket(dataDir), () => {
      pid = 8;
      return '';
    });
    try {
      await reloading;
      expect(master.asked).toEqual(['reload']);
    } finally {
      await Promise.all([worker.stop(), master.stop()]);
    }
  }));
