import type { CrowdsecStart, CrowdsecStatus, CrowdsecStop, LogEntry } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import type { Logger } from 'pino';
import type { Decisions } from '../decisions/service.ts';
import { accessLog } from './instance.ts';
import { DEBIAN, readVersion } from './program.ts';
import { createRunner } from './runner.ts';
import { createSync, SOURCE } from './sync.ts';

export interface CrowdsecDeps {
  dataDir: string;
  port: number;
  decisions: Decisions;
  /** Whether it is to run without anybody asking (spec, Versioning 5). */
  isWanted: () => Promise<boolean>;
  /** Puts an entry into the live log. */
  publish: (entry: LogEntry) => void;
  transact: Transact;
  record: RecordChange;
  clock: () => Date;
  log: Logger;
}

/** The supervisor gives the whole server 2 s to end, and CrowdSec alone takes as long. */
const SHUTDOWN_MS = 700;

const RESOURCE = 'admin/crowdsec';

/** CrowdSec on this machine: its process, and its decisions as ours. */
export const createCrowdsec = (deps: CrowdsecDeps) => {
  const { dataDir, port, decisions, isWanted, publish, transact, record, clock, log } = deps;
  const sync = createSync({ port, decisions, publish, clock, log });
  const runner = createRunner({ dataDir, port, program: DEBIAN, log, onReady: sync.follow });
  let version: string | null = null;

  const note = (action: string, actor: Actor, after: object): Promise<void> =>
    transact((tx: Executor) => record(tx, { action, actor, resource: RESOURCE, after }));

  return {
    isRunning: runner.isRunning,

    async start(actor: Actor): Promise<CrowdsecStart> {
      const wasRunning = runner.isRunning();
      const started = await runner.start();
      if (!wasRunning) await note('crowdsec.start', actor, { pid: started.pid });
      return { status: 'started', ...started };
    },

    async stop(actor: Actor): Promise<CrowdsecStop> {
      const { pid } = runner.state();
      sync.rest();
      await runner.stop();
      await note('crowdsec.stop', actor, { pid });
      return { status: 'stopped' };
    },

    async status(): Promise<CrowdsecStatus> {
      const { status, pid, issue } = runner.state();
      if (status !== 'not_installed') version ??= await readVersion(DEBIAN);
      const { total } = await decisions.list({ source: SOURCE, per_page: 1 });
      return {
        status,
        pid,
        version: status === 'not_installed' ? null : version,
        lapi_ready: await runner.isReady(),
        decisions: total,
        last_sync: sync.lastSync(),
        acquisition: runner.isReading() ? [accessLog(runner.directory)] : [],
        issue: issue ?? sync.issue(),
      };
    },

    /** Starts it when it is wanted, without waiting for it; ends it when it is told to. */
    async run(): Promise<{ stop(): Promise<void> }> {
      const watch = sync.watch();
      if (await isWanted()) runner.keep();
      return {
        async stop() {
          await watch.stop();
          await runner.stop(SHUTDOWN_MS);
        },
      };
    },
  };
};
export type Crowdsec = ReturnType<typeof createCrowdsec>;
