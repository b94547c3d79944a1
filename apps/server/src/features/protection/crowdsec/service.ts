import type { CrowdsecStart, CrowdsecStatus, CrowdsecStop, LogEntry } from '@sallyport/contract';
import { trafficSocket } from '@sallyport/deployment/places';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Alone } from '@sallyport/store/database/alone';
import type { Executor, Transact } from '@sallyport/store/database/open';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Logger } from 'pino';
import { repeat } from '../../../dataplane/repeat.ts';
import type { SafeFetch } from '../../../net/safe-fetch.ts';
import type { Decisions } from '../decisions/service.ts';
import { createConsole } from './console/service.ts';
import { consoleStore } from './console/store.ts';
import { accessLog } from './instance.ts';
import { createLapiWriter } from './lapi-writer.ts';
import { createPresets } from './presets/service.ts';
import { presetStore } from './presets/store.ts';
import { type CrowdsecProgram, readVersion } from './program.ts';
import { createRunner } from './runner.ts';
import { createSync, SOURCE } from './sync.ts';
import { ENDINGS_OF_OTHERS } from './to-decision.ts';
import { createTrafficFeed } from './traffic/feed.ts';
import { linesUnread } from './traffic/reading.ts';

export interface CrowdsecDeps {
  dataDir: string;
  port: number;
  program: CrowdsecProgram;
  /** Where it is enrolled: base URL, and what asks there. */
  console: { url: string; fetch: SafeFetch };
  vault: Vault;
  decisions: Decisions;
  /** Whether it is to run without anybody asking (spec, Versioning 5). */
  isWanted: () => Promise<boolean>;
  /** Canonical networks of `admin_whitelist`. */
  whitelist: () => Promise<readonly string[]>;
  /** Keeps it on one node of several; see `createAlone`. */
  alone: (onLost: () => void) => Alone;
  /** Puts an entry into the live log. */
  publish: (entry: LogEntry) => void;
  /** Has HAProxy tell of every request, or not any more. */
  tellTraffic: (isWanted: boolean) => Promise<void>;
  isTrafficTold: () => boolean;
  db: Executor;
  transact: Transact;
  record: RecordChange;
  clock: () => Date;
  log: Logger;
}

/** The supervisor gives the whole server 2 s to end, and CrowdSec alone takes as long. */
const SHUTDOWN_MS = 700;

/** How soon a change of what is configured is followed. */
const FOLLOW_MS = 500;

const RESOURCE = 'admin/crowdsec';

/** CrowdSec on this machine: its process, and its decisions as ours. */
export const createCrowdsec = (deps: CrowdsecDeps) => {
  const {
    dataDir,
    port,
    program,
    decisions,
    isWanted,
    whitelist,
    alone,
    publish,
    tellTraffic,
    isTrafficTold,
    db,
    transact,
    record,
    clock,
    log,
  } = deps;
  const sync = createSync({
    port,
    decisions,
    writer: createLapiWriter(port, () => runner.credentials()),
    publish,
    clock,
    isEnrolled: async () => (await consoleStore(db).find()) !== undefined,
    onUseless: (isUnknown) => runner.mend(isUnknown),
    log,
  });
  const runner = createRunner({
    dataDir,
    port,
    program,
    log,
    configured: async () => ({
      whitelist: await whitelist(),
      choices: await presetStore(db).choices(),
      console: await consoleEnrolment.credentials(),
    }),
    alone,
    onReady(key) {
      sync.follow(key);
      void feed.begin();
    },
    onDamage(reason) {
      // With the key of the old one until the new one is ready, it would be taken for a stranger.
      sync.rest();
      sync.giveBack();
      publish({
        level: 'error',
        message: `The database of CrowdSec was damaged and set aside; it begins with a new one: ${reason}`,
        timestamp: clock().toISOString(),
        source: 'crowdsec',
        fields: { event: 'crowdsec_damaged', reason },
      });
    },
    onRefused(scenario, reason) {
      publish({
        level: 'error',
        message: `CrowdSec can not load the scenario ${scenario}, and goes on without it: ${reason}`,
        timestamp: clock().toISOString(),
        source: 'crowdsec',
        fields: { event: 'crowdsec_scenario_refused', scenario, reason },
      });
    },
    onAway() {
      sync.rest();
      void feed.rest();
    },
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

  const end = async (): Promise<void> => {
    sync.rest();
    await runner.stop();
    await feed.rest();
  };

  const presets = createPresets({
    program,
    db,
    store: presetStore,
    check: runner.check,
    changed: runner.followConfigured,
    refusalOf: runner.refusalOf,
    transact,
    record,
    publish,
    clock,
  });

  const consoleEnrolment = createConsole({
    ...deps.console,
    program,
    db,
    store: consoleStore,
    vault: deps.vault,
    changed: runner.followConfigured,
    async forget() {
      runner.forgetConsole();
      await sync.dropOthers();
    },
    transact,
    record,
    publish,
    clock,
  });

  return {
    presets,
    console: consoleEnrolment,
    isRunning: runner.isRunning,

    async start(actor: Actor): Promise<CrowdsecStart> {
      const wasRunning = runner.isRunning();
      const started = await runner.start();
      if (!wasRunning) await note('crowdsec.start', actor, { pid: started.pid });
      return { status: 'started', ...started };
    },

    async stop(actor: Actor): Promise<CrowdsecStop> {
      const { pid } = runner.state();
      await end();
      await note('crowdsec.stop', actor, { pid });
      return { status: 'stopped' };
    },

    async status(): Promise<CrowdsecStatus> {
      const { status, pid, issue } = runner.state();
      if (status !== 'not_installed') version ??= await readVersion(program);
      const { total } = await decisions.list({ source: SOURCE, per_page: 1 });
      const ofOthers = ENDINGS_OF_OTHERS.map((search) => decisions.list({ source: SOURCE, search, per_page: 1 }));
      return {
        status,
        pid,
        version: status === 'not_installed' ? null : version,
        lapi_ready: await runner.isReady(),
        decisions: total,
        decisions_of_others: (await Promise.all(ofOthers)).reduce((sum, page) => sum + page.total, 0),
        last_sync: sync.lastSync(),
        acquisition: runner.isReading() ? [path] : [],
        scenarios: runner.isRunning() ? runner.scenarios() : [],
        traffic: await traffic(pid),
        issue: issue ?? sync.issue() ?? feed.issue(),
      };
    },

    /** Runs it while it is wanted, without waiting for it; ends it when it is told to. */
    async run(): Promise<{ stop(): Promise<void> }> {
      let wanted = await isWanted();
      const watch = sync.watch();
      if (wanted) runner.keep();
      // It may have been wanted when the last server ended.
      else void feed.rest();
      /** Who starts or stops it by hand has the last word, until what is configured changes. */
      const follow = async (): Promise<void> => {
        await runner.look();
        await runner.followConfigured();
        const now = await isWanted();
        if (now === wanted) return;
        wanted = now;
        if (now) runner.keep();
        else await end();
      };
      const following = repeat('follow whether CrowdSec is wanted', FOLLOW_MS, follow, log);
      return {
        async stop() {
          await following.stop();
          await watch.stop();
          await runner.stop(SHUTDOWN_MS);
          await feed.stop();
        },
      };
    },
  };
};
export type Crowdsec = ReturnType<typeof createCrowdsec>;
