import type { CrowdsecStart, CrowdsecStatus, CrowdsecStop, LogEntry } from '@sallyport/contract';
import { trafficSocket } from '@sallyport/deployment/places';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import type { Logger } from 'pino';
import type { Decisions } from '../decisions/service.ts';
import { accessLog } from './instance.ts';
import { DEBIAN, readVersion } from './program.ts';
import { createRunner } from './runner.ts';
import { createSync, SOURCE } from './sync.ts';
import { createTrafficFeed } from './traffic/feed.ts';
import { linesUnread } from './traffic/reading.ts';

export interface CrowdsecDeps {
  dataDir: string;
  port: number;
  decisions: Decisions;
  /** Whether it is to run without anybody asking (spec, Versioning 5). */
  isWanted: () => Promise<boolean>;
  /** Puts an entry into the live log. */
  publish: (entry: LogEntry) => void;
  /** Has HAProxy tell of every request, or not any more. */
  tellTraffic: (isWanted: boolean) => Promise<void>;
  isTrafficTold: () => boolean;
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
  const { dataDir, port, decisions, isWanted, publish, tellTraffic, isTrafficTold, transact, record, clock, log } =
    deps;
  const sync = createSync({ port, decisions, publish, clock, log });
  const runner = createRunner({
    dataDir,
    port,
    program: DEBIAN,
    log,
    onReady(key) {
      sync.follow(key);
      void feed.begin();
    },
    onAway: () => void feed.rest(),
  });
  const path = accessLog(runner.directory);
  const feed = createTrafficFeed({ socket: trafficSocket(dataDir), path, group: runner.account.id, tellTraffic, log });
  let version: string | null = null;

  const note = (action: string, actor: Actor, after: object): Promise<void> =>
    transact((tx: Executor) => record(tx, { action, actor, resource: RESOURCE, after }));

  const traffic = async (pid: number | null): Promise<CrowdsecStatus['traffic']> => {
    const { written, dropped } = feed.counts();
    const unread = pid === null ? undefined : await linesUnread(pid, path);
    return { told: isTrafficTold(), lines_written: written, lines_dropped: dropped, lines_unread: unread ?? null };
  };

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
      await feed.rest();
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
        acquisition: runner.isReading() ? [path] : [],
        traffic: await traffic(pid),
        issue: issue ?? sync.issue() ?? feed.issue(),
      };
    },

    /** Starts it when it is wanted, without waiting for it; ends it when it is told to. */
    async run(): Promise<{ stop(): Promise<void> }> {
      const watch = sync.watch();
      if (await isWanted()) runner.keep();
      // It may have been wanted when the last server ended.
      else void feed.rest();
      return {
        async stop() {
          await watch.stop();
          await runner.stop(SHUTDOWN_MS);
          await feed.stop();
        },
      };
    },
  };
};
export type Crowdsec = ReturnType<typeof createCrowdsec>;
