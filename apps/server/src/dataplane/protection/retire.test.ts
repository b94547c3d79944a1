import { mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { masterSocket } from '@sallyport/deployment/places';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { retireOldProcesses } from './retire.ts';

const OWN = '1 master 1 0d00h00m02s 2.6\n# workers\n3 worker 0 0d00h00m00s 2.6\n';
const WITH_OLD = `${OWN}# old workers\n2 worker 1 0d00h00m02s 2.6\n# programs\n`;

/** What comes of it when a master answers so, in turn; the last answer stays. The real one is in test/guard/replaced-process.test.ts. */
const retireWith = (answers: readonly string[]): Promise<unknown> =>
  withTemporaryDirectory(async (dataDir) => {
    const path = masterSocket(dataDir);
    mkdirSync(dirname(path), { recursive: true });
    let asked = 0;
    const master = createServer((connection) => {
      const answer = answers[Math.min(asked, answers.length - 1)] ?? '';
      asked += 1;
      connection.once('data', () => connection.end(answer));
    });
    await new Promise<void>((resolve) => master.listen(path, resolve));
    try {
      return await retireOldProcesses(dataDir).then(
        () => `done after ${asked}`,
        (error: Error) => error.message,
      );
    } finally {
      master.close();
    }
  });

test.each([
  ['there is none', [OWN], 'done after 1'],
  ['it takes both', [WITH_OLD, '\n', '\n'], 'done after 3'],
  ['it ended meanwhile', [WITH_OLD, "Can't find the target\n", OWN], 'done after 5'],
  ['it does not take it', [WITH_OLD, 'Unknown map\n', WITH_OLD], /serves on by its old rules: Unknown map$/],
  ['nothing is answered for it', [WITH_OLD, '', WITH_OLD], /serves on by its old rules: no answer$/],
  ['the master says something else', ['Unknown command\n'], /does not tell its processes/],
  ['the master says nothing', [''], /does not tell its processes/],
])('an old process is retired or told of when %s', async (_when, answers, outcome) => {
  expect(await retireWith(answers)).toEqual(typeof outcome === 'string' ? outcome : expect.stringMatching(outcome));
});
