// A supervisor of its own process for the tests, so that it can be killed: supervises what the JSON file in its first
// argument lists, until SIGTERM.
import { readFileSync } from 'node:fs';
import { readBootId } from '@sallyport/deployment/processes';
import { readState, writeState } from '@sallyport/deployment/supervisor-state';
import { pino } from 'pino';
import type { ChildSpec } from '../child-spec.ts';
import { answersHttp } from '../children/answers.ts';
import { superviseAll } from '../supervisor.ts';

/** What the test writes. */
export interface RunSupervisor {
  stateFile: string;
  children: (Pick<ChildSpec, 'name' | 'argv' | 'env' | 'cwd' | 'stop'> & { port: number })[];
}

const { stateFile, children }: RunSupervisor = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const supervisor = superviseAll({
  children: children.map(({ port, ...child }) => ({
    ...child,
    output: (line) => ({ level: 'info', message: line }),
    isAlive: () => answersHttp(`http://127.0.0.1:${port}/`),
    patience: { idleMs: 2_000, busyMs: 6_000, start: { idleMs: 2_000, busyMs: 6_000 } },
  })),
  inherited: readState(stateFile),
  record: (state) => writeState(stateFile, { boot_id: readBootId(), proxy_http: '', proxy_https: '', ...state }),
  log: pino({ level: 'debug' }),
  random: Math.random,
});
process.once('SIGTERM', async () => {
  await supervisor.stop(new AbortController().signal);
  process.exit(0);
});
