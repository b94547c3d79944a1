import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GuardConfig, GuardCounters, GuardMessage } from '@sallyport/contract';
import { guardConfigFile, guardFiles, logSocket } from '@sallyport/deployment/places';
import { type GuardStats, startControl } from './control.ts';
import { createAgent } from './judge/agent.ts';
import { createJudge } from './judge/judge.ts';
import { createLanes } from './lanes/lanes.ts';
import { findCountry } from './policy/country.ts';
import { createPolicy, type Policy } from './policy/policy.ts';
import { readGuardConfig } from './policy/read-config.ts';
import { openDoor } from './relay/door.ts';
import { createSeat } from './seat.ts';
import { createCountFile, openSlot, readCountFile, slabIn } from './tell/count-file.ts';
import { createCounter } from './tell/counts.ts';
import { createLineLimit } from './tell/line-limit.ts';
import { createLogClient } from './tell/log-client.ts';
import { type Adoption, type RunningThread, runThread, type ThreadKind } from './threads/run-thread.ts';
import { type Watched, watchThreads } from './watchdog.ts';

/** How soon the server hears of new counts. */
const REPORT_MS = 200;
/** How soon a configuration is noticed that nobody has told of. */
const LOOK_MS = 250;
/** HAProxy asks for what takes milliseconds; a lane has long bodies. */
const STUCK_AFTER_MS = { judge: 5_000, lane: 300_000 } as const;

export interface WorkerOptions {
  dataDir: string;
  index: number;
  /** Told when the worker can't go on; the process should end, and be started again. */
  onFailure: (reason: string) => void;
}

/**
 * One guard. This thread never blocks: it relays, answers for access lists and says that it is well. What may take long is judged
 * in other threads, which are there while they are needed.
 */
export const startWorker = async ({ dataDir, index, onFailure }: WorkerOptions): Promise<{ stop(): Promise<void> }> => {
  const files = guardFiles(dataDir, index);
  mkdirSync(dirname(files.agent), { recursive: true, mode: 0o700 });
  const former = readCountFile(files.counters);
  const counting = createCountFile(files.counters);
  const ownSlot = counting.take();
  const ownSlab = slabIn(counting.shared, ownSlot);
  const ownFile = openSlot(files.counters, ownSlot, ownSlab);
  const counter = createCounter(ownSlab);
  const country = findCountry(dataDir);
  let revision = 0;
  let reported = '';
  let isStopping = false;
  let inForce: { config: GuardConfig; policy: Policy } | undefined;

  const countersOf = (instance: string, counts: ReturnType<typeof counting.counts>): GuardCounters => ({
    type: 'counters',
    instance,
    worker: index,
    revision,
    ...counts,
  });
  const log = createLogClient({
    path: logSocket(dataDir),
    onDropped: () => counter.add('dropped_messages'),
    onConnected() {
      // What the last process counted after its last report; a server that knows it already adds nothing.
      if (former) log.send(JSON.stringify(countersOf(former.instance, former.counts)));
      reported = '';
      report();
    },
  });
  const report = (): void => {
    const line = JSON.stringify(countersOf(counting.instance, counting.counts()));
    if (line === reported || !log.isConnected()) return;
    reported = line;
    log.send(line);
  };
  const mayTell = createLineLimit();
  const tell = (message: GuardMessage): void => {
    if (mayTell()) log.send(JSON.stringify(message));
    else counter.add('dropped_messages');
  };

  const watched = new Map<RunningThread, Watched>();
  const start = (kind: ThreadKind, config: GuardConfig): RunningThread => {
    const slot = counting.take();
    const thread = runThread(kind, {
      data: { config, dataDir, index, shared: counting.shared, slot },
      onLine: log.send,
      onExit(code) {
        counting.release(slot);
        watched.delete(thread);
        if (code === 0 || isStopping) return;
        if (kind === 'judge') onFailure('the judging thread ended');
        else process.stderr.write(`sallyport guard: worker ${index}: a lane ended; what it judged was refused\n`);
      },
    });
    watched.set(thread, {
      stuckAfterMs: STUCK_AFTER_MS[kind],
      beats: thread.beats,
      // A lane is not needed by anybody else.
      onStuck: () => (kind === 'judge' ? onFailure('the judging thread is stuck') : thread.kill()),
    });
    return thread;
  };

  const policy = (): Policy | undefined => inForce?.policy;
  const judge = createJudge({ counter, tell });
  const common = { policy, judge, counter, counted: ownFile.save, tell };
  const seat = createSeat({
    openAgent: () => createAgent({ path: files.agent, worker: index, ...common }),
    startThread: (config) => start('judge', config),
    enforce(config, keepsRules) {
      inForce = { config, policy: createPolicy(config, { ruleSet: null, country }) };
      // At once: what is asked for by this revision is judged by it, in every thread.
      lanes.adopt(config, keepsRules);
    },
  });
  const lanes = createLanes({
    judge: seat.thread,
    start() {
      if (!inForce) throw new Error('there is no configuration to judge by');
      return start('lane', inForce.config);
    },
    now: () => performance.now(),
  });

  const tellSwap = (tried: number, diagnostics: readonly string[]): void => {
    const isGood = diagnostics.length === 0;
    log.send(
      JSON.stringify({
        type: 'log',
        timestamp: new Date().toISOString(),
        level: isGood ? 'info' : 'error',
        source: 'guard',
        message: isGood ? 'Configuration in force' : 'Configuration refused, the one before stays in force',
        fields: { worker: index, revision: tried, diagnostics: diagnostics.slice(0, 10) },
      }),
    );
  };

  /** Tells one state of the file from another; '' when there is none. */
  const stampOf = (): string => {
    const stat = statSync(guardConfigFile(dataDir), { throwIfNoEntry: false });
    return stat ? `${stat.ino} ${stat.mtimeMs} ${stat.size}` : '';
  };

  let seen = '';
  const readConfig = (): GuardConfig | undefined => {
    seen = stampOf();
    try {
      return readGuardConfig(guardConfigFile(dataDir));
    } catch (error) {
      if (((error as { code?: string }).code ?? '') === 'ENOENT') return undefined;
      throw error;
    }
  };

  const adoptNewest = async (): Promise<Adoption> => {
    let config: GuardConfig | undefined;
    let adoption: Adoption;
    try {
      config = readConfig();
      if (!config || config.revision === revision) return { revision, diagnostics: [] };
      // Refused here as well, before anything has changed.
      createPolicy(config, { ruleSet: null, country });
      adoption = await seat.adopt(config);
    } catch (error) {
      adoption = { revision, diagnostics: [error instanceof Error ? error.message : String(error)] };
    }
    const { diagnostics } = adoption;
    if (config && diagnostics.length === 0) revision = config.revision;
    tellSwap(config?.revision ?? 0, diagnostics);
    report();
    return { revision, diagnostics };
  };

  /** One after the other, so that the newest on disk is what ends up in force. */
  let turn: Promise<unknown> = Promise.resolve();
  const adopt = (): Promise<Adoption> => {
    const next = turn.then(adoptNewest);
    turn = next.catch(() => undefined);
    return next;
  };

  const stats = (): GuardStats => ({
    instance: counting.instance,
    worker: index,
    pid: process.pid,
    revision,
    log_connected: log.isConnected(),
    ...counting.counts(),
  });

  const door = await openDoor({ dataDir, path: files.relay, lanes, isReady: seat.isTaken, ...common });
  await adopt();
  // Nothing can be put in force. HAProxy has to be told so: without an answer it might let requests pass.
  if (!seat.isTaken()) await seat.open();
  const control = await startControl({ path: files.control, adopt, stats });
  // What was written before anybody could be told of it.
  await adopt();
  const reporter = setInterval(report, REPORT_MS);
  // Nobody may be there to tell: the file is rendered before HAProxy starts, also while there is no server.
  const looking = setInterval(() => {
    if (stampOf() !== seen) void adopt();
  }, LOOK_MS);
  const watchdog = watchThreads(() => [...watched.values()]);

  return {
    async stop() {
      isStopping = true;
      watchdog.stop();
      clearInterval(reporter);
      clearInterval(looking);
      await control.stop();
      door.stop();
      await Promise.all([seat.stop(), lanes.stop()]);
      report();
      await log.stop();
    },
  };
};
