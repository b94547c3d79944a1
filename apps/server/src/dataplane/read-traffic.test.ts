import { join } from 'node:path';
import { RuntimeRefused } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { answerAt, processInfo } from '../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { readTraffic } from './read-traffic.ts';

const CLASSES = ['1xx', '2xx', '3xx', '4xx', '5xx', 'other'];
const STATISTICS = `# pxname,svname,bin,bout,${CLASSES.map((name) => `hrsp_${name}`).join(',')},
proxy,FRONTEND,70,80,1,2,3,4,5,6,

`;

/** What is read of a HAProxy that answers `show stat` so. */
const read = (statistics: string) =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    const answer = (command: string) => (command === 'show info' ? processInfo(7) : statistics);
    const haproxy = await answerAt(path, answer);
    try {
      return await readTraffic(path);
    } finally {
      await haproxy.stop();
    }
  });

test('is what HAProxy has counted', async () => {
  expect(await read(STATISTICS)).toMatchObject({
    process: '7',
    counters: { bytesIn: 70, bytesOut: 80, requests: { '1xx': 1, '2xx': 2, '3xx': 3, '4xx': 4, '5xx': 5, other: 6 } },
  });
});

test('is nothing while nobody listens, or who does ends before it answers', async () => {
  expect(await readTraffic('/no/such/socket')).toBeUndefined();
  expect(await read('')).toBeUndefined();
});

test('is an error when the answer is another than expected: no figures are not zero', async () => {
  await expect(read('Permission denied\n')).rejects.toThrow(RuntimeRefused);
});
