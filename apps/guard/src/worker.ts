import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GuardConfig, GuardCounters } from '@sallyport/contract';
import { guardConfigFile, guardFiles, logSocket } from '@sallyport/server/dataplane/enforcement-layout';
import { type GuardStats, startControl } from './control.ts';
import { readGuardConfig } from './policy/read-config.ts';
import { rulesKey } from './policy/rules.ts';
import { createCountFile, readCountFile, slabIn } from './tell/count-file.ts';
import { createCounter } from './tell/counts.ts';
import { createLogClient } from './tell/log-client.ts';
import { type Adoption, type RunningThread, runThread } from './threads/run-thread.ts';
import { type Watched, watchThreads } from './watchdog.ts';

/** How soon the server hears of new counts. */
const REPORT_MS = 200;

export interface WorkerOptions {
  dataDir: string;
  index: number;
  /** Told when the worker can't go on; the process should end, and be started again. */
  onFailure: (reason: string) => void;
}

interface Judging extends Watched {
  thread: RunningThread;
  slot: number;
  /** What its rules were compiled from; undefined when it has none. */
  key: string | undefined;
}

/**
 * One guard: a thread that judges, one that relays, and this one, which never blocks. Other rules are compiled by a
 * new judging thread while the old one judges, and take its place at once.
 */
export const startWorker = async ({ dataDir, index, onFailure }: WorkerOptions): Promise<{ stop(): Promise<void> }> => {
  const files = guardFiles(dataDir, index);
  mkdirSync(dirname(files.agent), { recursive: true, mode: 0o700 });
  const former = readCountFile(files.counters);
  const counting = createCountFile(files.counters);
  const ownSlot = counting.take();
  const counter = createCounter(slabIn(counting.shared, ownSlot));
  let revision = 0;
  let reported = '';
  let isStopping = false;

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

  const start = (kind: 'judge' | 'relay', config: GuardConfig | undefined) => {
    const slot = counting.take();
    let isEnding = false;
    const thread = runThread(kind, {
      data: { config, dataDir, index, shared: counting.shared, slot },
      onLine: log.send,
      onExit(code) {
        counting.release(slot);
        if (!isEnding && !isStopping && code !== 0) onFailure(`the ${kind} thread ended`);
      },
    });
    const end = async (): Promise<void> => {
      isEnding = true;
      await thread.stop();
    };
    return { thread, slot, end };
  };

  const keyOf = ({ waf }: GuardConfig): string | undefined => (waf.enabled ? rulesKey(waf.rule_sources) : undefined);

  const tellSwap = (config: GuardConfig, diagnostics: readonly string[]): void => {
    const isGood = diagnostics.length === 0;
    log.send(
      JSON.stringify({
        type: 'log',
        timestamp: new Date().toISOString(),
        level: isGood ? 'info' : 'error',
        source: 'guard',
        message: isGood ? 'Configuration in force' : 'Configuration refused, the one before stays in force',
        fields: { worker: index, revision: config.revision, diagnostics: diagnostics.slice(0, 10) },
      }),
    );
  };

  const readConfig = (): GuardConfig | undefined => {
    try {
      return readGuardConfig(guardConfigFile(dataDir));
    } catch (error) {
      if (((error as { code?: string }).code ?? '') === 'ENOENT') return undefined;
      throw error;
    }
  };

  /** Starts a judging thread; undefined when it refused the configuration. */
  const startJudging = async (config: GuardConfig | undefined): Promise<{ judging?: Judging; adoption: Adoption }> => {
    const { thread, slot, end } = start('judge', config);
    const adoption = await thread.started;
    if (adoption && adoption.diagnostics.length > 0) {
      await end();
      return { adoption };
    }
    await thread.listening;
    const judging: Judging = {
      kind: 'judge',
      beats: thread.beats,
      thread: { ...thread, stop: end },
      slot,
      key: config && keyOf(config),
    };
    return { judging, adoption: adoption ?? { revision: 0, diagnostics: [] } };
  };

  let judging: Judging | undefined;
  const relay = start('relay', undefined);
  const relayWatched: Watched = { kind: 'relay', beats: relay.thread.beats };

  const replaceJudging = async (config: GuardConfig): Promise<Adoption> => {
    const { judging: next, adoption } = await startJudging(config);
    if (!next) return adoption;
    const old = judging;
    judging = next;
    await old?.thread.stop();
    return adoption;
  };

  const adoptNewest = async (): Promise<Adoption> => {
    let config: GuardConfig | undefined;
    let key: string | undefined;
    try {
      config = readConfig();
      if (!config || config.revision === revision) return { revision, diagnostics: [] };
      key = keyOf(config);
    } catch (error) {
      return { revision, diagnostics: [error instanceof Error ? error.message : String(error)] };
    }
    const keepsThread = judging !== undefined && (key === undefined || key === judging.key);
    const { diagnostics } = await (keepsThread && judging ? judging.thread.adopt(config) : replaceJudging(config));
    // What the one could compile, the other can.
    if (diagnostics.length === 0) await relay.thread.adopt(config);
    if (diagnostics.length === 0) revision = config.revision;
    tellSwap(config, diagnostics);
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

  await relay.thread.listening;
  await adopt();
  const control = await startControl({ path: files.control, adopt, stats });
  // What was written before anybody could be told of it.
  await adopt();
  const reporter = setInterval(report, REPORT_MS);
  const watchdog = watchThreads(
    () => (judging ? [judging, relayWatched] : [relayWatched]),
    (kind) => onFailure(`the ${kind} thread is stuck`),
  );

  return {
    async stop() {
      isStopping = true;
      watchdog.stop();
      clearInterval(reporter);
      await control.stop();
      await Promise.all([judging?.thread.stop(), relay.end()]);
      report();
      await log.stop();
    },
  };
};
