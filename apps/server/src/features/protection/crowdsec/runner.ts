import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Alone } from '@sallyport/store/database/alone';
import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import { probeTcp } from '../../../net/tcp-probe.ts';
import { crowdsecAccount } from './account.ts';
import type { ConsoleCredentials } from './console/credentials.ts';
import { setAside } from './damage.ts';
import { createDamageWatch } from './database.ts';
import { endLeftBehind, notePid } from './ending.ts';
import {
  type Instance,
  prepareInstance,
  type Rules,
  readCredentials,
  tryRules,
  writeConsole,
  writeRules,
} from './instance.ts';
import { isUp } from './lapi.ts';
import { chosenOf, type HubPreset, type HubScenario, type PresetChoice, readHub } from './presets/hub.ts';
import { type CrowdsecProcess, startProcess } from './process.ts';
import { type CrowdsecProgram, whyNotInstalled } from './program.ts';
import { isAboutOurKey, isDamage, isFailedLookUp, refusedFile } from './words.ts';

/** Spec: the start is verified by a process check; some faults show only after the local API is up. */
const CHECK_MS = 2_000;
/** Spec, Limits. */
const POLL_MS = 500;
const READY_WITHIN_MS = 60_000;
const RESTART_MS = [1_000, 60_000] as const;
/** Who stayed up this long has recovered. */
const RECOVERED_MS = 60_000;
const PROBE_MS = 1_000;

/** What is stored of what it judges by, and whom it tells. */
export interface Configured {
  /** Networks that it never looks at. */
  whitelist: readonly string[];
  choices: readonly PresetChoice[];
  /** Who it is to the console; undefined: it is not enrolled. */
  console: ConsoleCredentials | undefined;
}

export interface RunnerDeps {
  dataDir: string;
  port: number;
  program: CrowdsecProgram;
  log: Logger;
  /** It answers, also after a restart; `key` reads its decisions. */
  onReady: (key: string) => void;
  /** What it is to judge by. */
  configured: () => Promise<Configured>;
  /** See `createAlone`. */
  alone: (onLost: () => void) => Alone;
  /** Its database was damaged, as the reason tells, and it begins anew. */
  onDamage: (reason: string) => void;
  /** It can't load this scenario, as the reason tells, and goes on without it. */
  onRefused: (scenario: string, reason: string) => void;
  /** It ended so often that it will not be there for a while. */
  onAway: () => void;
}

export type RunnerState = 'running' | 'starting' | 'stopped' | 'failed' | 'not_installed';

const STOPPED = 'it was stopped meanwhile';

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs the one CrowdSec process: starts it when told, starts it again when it ends by itself, ends it. */
export const createRunner = ({
  dataDir,
  port,
  program,
  log,
  configured,
  alone,
  onReady,
  onDamage,
  onRefused,
  onAway,
}: RunnerDeps) => {
  const directory = join(dataDir, 'crowdsec');
  const instance: Instance = { directory, account: crowdsecAccount(directory), port, program };
  const damageWatch = createDamageWatch(instance);
  const noteFile = join(directory, 'process.json');
  let running: CrowdsecProcess | undefined;
  /** Started, and not yet known to stay. */
  let launched: CrowdsecProcess | undefined;
  let issue: string | null = null;
  let isWanted = false;
  /** What the process was told, and what it judges by since. */
  let told: Configured = { whitelist: [], choices: [], console: undefined };
  let rules: Rules = { whitelist: [], scenarios: [] };
  /** Scenarios that it can't load, with its words. */
  const refused = new Map<string, string>();
  let following: Promise<void> = Promise.resolve();
  /** Ends because it is to be another one. */
  let replaced: CrowdsecProcess | undefined;
  let starting: Promise<CrowdsecProcess> | undefined;
  let restart: NodeJS.Timeout | undefined;
  let waitMs: number = RESTART_MS[0];
  let stopping: Promise<void> = Promise.resolve();
  const place = alone(() => {
    log.warn('the connection that keeps CrowdSec on this node was lost');
    // Another node may start it now.
    running?.stop().catch((err: unknown) => log.error({ err }, 'CrowdSec could not be ended'));
  });

  const isReady = async (): Promise<boolean> => running?.isRunning() === true && (await isUp(port));

  const waitUntilReady = async (child: CrowdsecProcess): Promise<boolean> => {
    const giveUpAt = performance.now() + READY_WITHIN_MS;
    while (child.isRunning()) {
      if (await isUp(port)) return child.isRunning();
      if (performance.now() > giveUpAt) break;
      await delay(POLL_MS);
    }
    return false;
  };

  const choose = (choices: readonly PresetChoice[]): HubScenario[] =>
    chosenOf(readHub(program.hub), choices).filter(({ name }) => !refused.has(name));

  /** Goes on without the scenario that these words are about. False when they are about none, or it did so before. */
  const leaveOut = (reason: string, scenarios = rules.scenarios): boolean => {
    const file = refusedFile(reason);
    const name = scenarios.find((scenario) => scenario.file === file)?.name;
    if (name === undefined || refused.has(name)) return false;
    refused.set(name, reason);
    log.warn({ scenario: name, reason }, 'CrowdSec can not load a scenario, and goes on without it');
    onRefused(name, reason);
    return true;
  };

  const launch = async (): Promise<CrowdsecProcess> => {
    const absent = whyNotInstalled(program);
    if (absent !== undefined) throw new Error(absent);
    const elsewhere = await place.take();
    if (elsewhere !== undefined) throw new Error(`it runs on ${elsewhere}: of several nodes, only one may run it`);
    mkdirSync(directory, { recursive: true, mode: 0o750 });
    await endLeftBehind(noteFile, program.daemon, `${instance.account.view}/etc/config.yaml`);
    if ((await probeTcp('127.0.0.1', port, PROBE_MS)) === undefined) {
      throw new Error(
        `port ${port} of 127.0.0.1 is used by another program; end that, or set SALLYPORT_CROWDSEC_PORT to a free one`,
      );
    }
    told = await configured();
    rules = { whitelist: told.whitelist, scenarios: choose(told.choices) };
    const key = await prepareInstance(instance, rules, told.console);
    if (!isWanted) throw new Error(STOPPED);
    damageWatch.begin();
    const child = await startProcess(instance);
    launched = child;
    notePid(noteFile, child);
    if (!isWanted) await child.stop();
    const check = new AbortController();
    const early = await Promise.race([
      child.ended,
      delay(CHECK_MS, undefined, { signal: check.signal }).catch(() => undefined),
    ]);
    check.abort();
    launched = undefined;
    if (early !== undefined) throw new Error(early);
    running = child;
    issue = null;
    const since = performance.now();
    void child.ended.then((reason) => {
      if (running === child) running = undefined;
      if (performance.now() - since > RECOVERED_MS) waitMs = RESTART_MS[0];
      if (!isWanted || child === replaced) return;
      if (isDamage(reason)) renew(reason);
      leaveOut(reason);
      failed(reason);
    });
    void waitUntilReady(child).then((ready) => {
      if (ready) onReady(key);
    });
    return child;
  };

  /** It is to have a new database. */
  const renew = (reason: string): void => {
    setAside(instance);
    log.error({ reason }, 'the database of CrowdSec is damaged; it was set aside');
    onDamage(reason);
  };

  /** Begins with a new database where the one that is there can't be used, and without scenarios that it can't load. */
  const launchMended = async (): Promise<CrowdsecProcess> => {
    for (let isRenewed = false; ; ) {
      try {
        return await launch();
      } catch (error) {
        const reason = words(error);
        if (!isWanted) throw error;
        if (leaveOut(reason)) continue;
        if (isRenewed || !isDamage(reason)) throw error;
        renew(reason);
        isRenewed = true;
      }
    }
  };

  /** At most one start at a time; who asks meanwhile gets its outcome. */
  const begin = (): Promise<CrowdsecProcess> => {
    starting ??= stopping.then(launchMended).finally(() => {
      starting = undefined;
    });
    return starting;
  };

  const failed = (reason: string): void => {
    issue = reason;
    log.warn({ reason, againInMs: waitMs }, 'CrowdSec does not run');
    clearTimeout(restart);
    restart = setTimeout(
      () => {
        if (isWanted && !running) begin().catch((error: unknown) => isWanted && failed(words(error)));
      },
      waitMs * (1 - Math.random() / 4),
    );
    restart.unref();
    if (waitMs === RESTART_MS[1]) onAway();
    waitMs = Math.min(waitMs * 2, RESTART_MS[1]);
  };

  /** Ends what can't use its database, and starts it with a new one; with the old one when that is whole, unless it is `useless`. */
  const beginAnew = async (child: CrowdsecProcess, reason: string, isUseless: boolean): Promise<void> => {
    replaced = child;
    running = undefined;
    const renewing = child.stop().then(async () => {
      // What can't be looked at any more is what it was taken for.
      const fault = isUseless ? reason : await damageWatch.faultAtRest().catch(() => reason);
      if (fault !== undefined) renew(fault);
    });
    stopping = renewing.catch(() => undefined);
    await renewing.finally(() => isWanted && failed(reason));
  };

  /** One after the other: they share what they write. */
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = following.then(work);
    following = done.catch(() => undefined);
    return done;
  };

  /** What it would load for sure: nothing but what it judges by already, or has tried. */
  let good: readonly HubScenario[] = [];
  const isKnownGood = (scenarios: readonly HubScenario[]): boolean => {
    const isIn = (known: readonly HubScenario[]) => {
      const names = new Set(known.map(({ name }) => name));
      return scenarios.every(({ name }) => names.has(name));
    };
    return isIn(rules.scenarios) || isIn(good);
  };

  /** Whom it tells it learns at its start only. */
  const startAnew = async (child: CrowdsecProcess): Promise<void> => {
    replaced = child;
    running = undefined;
    stopping = child.stop().catch(() => undefined);
    if (isWanted) await begin().catch((error: unknown) => isWanted && failed(words(error)));
  };

  const followConfigured = async (): Promise<void> => {
    // Before it reads, the signal would end it.
    const child = running;
    if (!child?.isReading()) return;
    const now = await configured();
    if (JSON.stringify(now.console) !== JSON.stringify(told.console)) {
      writeConsole(instance, now.console);
      await startAnew(child);
      return;
    }
    if (JSON.stringify(now) === JSON.stringify(told)) return;
    let scenarios = choose(now.choices);
    while (!isKnownGood(scenarios)) {
      const reason = await tryRules(instance, { whitelist: now.whitelist, scenarios });
      if (reason === undefined) break;
      const isNamed = leaveOut(reason, scenarios);
      if (!isNamed) log.error({ reason }, 'CrowdSec can not load what it is to judge by, and goes on with what it has');
      scenarios = isNamed ? choose(now.choices) : [...rules.scenarios];
    }
    if (!running?.isReading()) return;
    rules = { whitelist: now.whitelist, scenarios };
    writeRules(instance, rules);
    running.reload();
    told = now;
  };

  return {
    directory,
    account: instance.account,
    credentials: () => readCredentials(instance),
    isReady,
    isRunning: (): boolean => running?.isRunning() === true,
    isReading: (): boolean => running?.isReading() === true,
    state: (): { status: RunnerState; pid: number | null; issue: string | null } => {
      const pid = running?.isRunning() ? running.pid : null;
      if (pid !== null) return { status: 'running', pid, issue: null };
      const absent = whyNotInstalled(program);
      if (absent !== undefined) return { status: 'not_installed', pid: null, issue: absent };
      if (starting) return { status: 'starting', pid: null, issue };
      return { status: isWanted ? 'failed' : 'stopped', pid: null, issue };
    },

    /** Starts it, if it does not run; answers when its local API is ready, or after a minute. Throws a 503 that says why it can't. */
    async start(): Promise<{ pid: number; lapi_ready: boolean }> {
      const absent = whyNotInstalled(program);
      if (absent !== undefined) throw refuse.unavailable(absent);
      clearTimeout(restart);
      // Its hub may be another one since.
      if (!running?.isRunning()) refused.clear();
      const wasWanted = isWanted;
      isWanted = true;
      try {
        const child = running?.isRunning() ? running : await begin();
        return { pid: child.pid, lapi_ready: await waitUntilReady(child) };
      } catch (error) {
        issue = words(error);
        // Whoever asked knows now; what is kept running by itself goes on trying.
        if (wasWanted && isWanted) failed(issue);
        else {
          isWanted = false;
          await place.release();
        }
        throw refuse.unavailable(`CrowdSec can't be started: ${issue}`);
      }
    },

    /**
     * It lives, but does not know us any more, for its database is another one; or it answers nothing but errors, which is its
     * database's fault when it said so.
     */
    async mend(isUnknown: boolean): Promise<void> {
      const stranger = running;
      if (!stranger?.isRunning()) return;
      // What it answers so as well when it could not look.
      if (isUnknown && isFailedLookUp(stranger.lastSaid(isAboutOurKey) ?? '')) return;
      const reason = isUnknown
        ? 'it does not know the key that its decisions are read with'
        : stranger.lastSaid(isDamage);
      if (reason !== undefined) await beginAnew(stranger, reason, isUnknown);
    },

    /** Has it begin anew when its database was damaged beside it, also before it meets that itself. */
    async look(): Promise<void> {
      const child = running;
      if (!child?.isRunning()) return;
      const reason = await damageWatch.fault(child).catch((err: unknown) => {
        log.warn({ err }, 'the database of CrowdSec could not be looked at');
        return undefined;
      });
      if (reason !== undefined && running === child) await beginAnew(child, reason, false);
    },

    /** Tells it what to judge by when that has changed. */
    followConfigured: (): Promise<void> => inTurn(followConfigured),

    /** Leaves nothing of it where it could be found, whether it runs or not. */
    forgetConsole: (): void => writeConsole(instance, undefined),

    /** Names of the scenarios that it judges by. */
    scenarios: (): string[] => rules.scenarios.map(({ name }) => name),

    /** Why a scenario that is to be in force is not, in its words. */
    refusalOf: (scenario: string): string | undefined => refused.get(scenario),

    /** Throws a 422 with its words when it can't load a scenario of this preset, were the choices these. */
    check: (preset: HubPreset, choices: readonly PresetChoice[]): Promise<void> =>
      inTurn(async () => {
        const before = new Map(refused);
        for (const { name } of preset.scenarios) refused.delete(name);
        const { whitelist } = await configured();
        for (;;) {
          const scenarios = choose(choices);
          const reason = isKnownGood(scenarios) ? undefined : await tryRules(instance, { whitelist, scenarios });
          if (reason === undefined) {
            good = scenarios;
            return;
          }
          const isOfPreset = preset.scenarios.some(({ file }) => file === refusedFile(reason));
          if (!isOfPreset && leaveOut(reason, scenarios)) continue;
          for (const [name, words] of before) refused.set(name, words);
          throw refuse.unprocessable(`CrowdSec refuses ${preset.name}: ${reason}`);
        }
      }),

    /** Starts it in the background, and goes on trying. */
    keep(): void {
      isWanted = true;
      begin().catch((error: unknown) => isWanted && failed(words(error)));
    },

    /** Resolves when it has ended; whoever can't wait as long as it takes says so (nothing that it stored is lost by force). */
    async stop(politeMs?: number): Promise<void> {
      isWanted = false;
      issue = null;
      clearTimeout(restart);
      const ending = Promise.all([(running ?? launched)?.stop(politeMs), starting?.catch(() => undefined), stopping]);
      running = undefined;
      stopping = ending.then(() => place.release()).catch(() => undefined);
      await ending;
      await stopping;
    },
  };
};
