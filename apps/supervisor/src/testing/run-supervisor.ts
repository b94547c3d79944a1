// A supervisor of its own process for the tests, so that it can be killed: supervises what the JSON file in its first
// argument lists, until SIGTERM.
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import type { ChildSpec } from '../child-spec.ts';
import { readBootId } from '../process/proc.ts';
import { readState, writeState } from '../state-file.ts';
import { superviseAll } from '../supervisor.ts';

/** What the test writes. */
export interface RunSupervisor {
  stateFile: string;
  children: Pick<ChildSpec, 'name' | 'argv' | 'env' | 'stop'>[];
}

const { stateFile, children }: RunSupervisor = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const supervisor = superviseAll({
  children: children.map((child) => ({
    ...child,
    output: (line) => ({ level: 'info', message: line }),
    isReady: async () => true,
  })),
  inherited: readState(stateFile),
  record: (living) =>
    writeState(stateFile, { boot_id: readBootId(), proxy_http: '', proxy_https: '', children: living }),
  log: pino({ level: 'debug' }),
  random: Math.random,
});
process.once('SIGTERM', async () => {
  await supervisor.stop(new AbortController().signal);
  process.exit(0);
});
