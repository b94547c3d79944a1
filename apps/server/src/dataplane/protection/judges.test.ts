import { join } from 'node:path';
import { createAdminSocket } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { answerAt } from '../../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { readJudges } from './judges.ts';

const HEADING = '1\n# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state\n';

/** What HAProxy tells of two guards, each of which is in its half and stands in for the other one; 2: it is fit. */
const told = (states: { even: [number, number]; odd: [number, number] }): string => {
  const lines = Object.entries(states).flatMap(([half, of], index) =>
    of.map((state, guard) => `${13 + index} guards_${half} ${guard + 1} guard-${guard} - ${state} 0 1 1 5 6 3 4 6 0 0`),
  );
  return `${HEADING}${lines.join('\n')}\n15 relay 1 relay-0 - 0 0 1 1 5 6 3 4 6 0 0\n\n`;
};

test.each<[string, Parameters<typeof told>[0], string[]]>([
  ['both are fit', { even: [2, 2], odd: [2, 2] }, []],
  ['one is away', { even: [0, 2], odd: [0, 2] }, ['guard-0']],
  ['one is away as its half knows, and the other not yet', { even: [2, 2], odd: [2, 0] }, ['guard-1']],
  ['nobody is there', { even: [0, 0], odd: [0, 0] }, ['guard-0', 'guard-1']],
])('guards are named once: %s', (_, states, away) =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    const haproxy = await answerAt(path, () => told(states));
    try {
      expect(await readJudges(createAdminSocket({ path }))).toEqual({ total: 2, away });
      expect(haproxy.asked).toEqual(['show servers state']);
    } finally {
      await haproxy.stop();
    }
  }),
);
