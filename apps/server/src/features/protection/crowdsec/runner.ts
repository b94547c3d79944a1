import { join } from 'node:path';
import type { Alone } from '@sallyport/store/database/alone';
import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import { crowdsecAccount } from './account.ts';
import type { Configured } from './configured.ts';
import { setAside } from './damage.ts';
import { createDamageWatch } from './database.ts';
import { followConfigured } from './follow-configured.ts';
import { type Instance, readCredentials, tryRules, writeConsole } from './instance.ts';
import { isUp } from './lapi.ts';
import { launch, waitUntilReady } from './launch.ts';
import type { CrowdsecProcess } from './process.ts';
import { type CrowdsecProgram, whyNotInstalled } from './program.ts';
import { createRestarts } from './restarts.ts';
import { createRulesInForce } from './rules-in-force.ts';
import { isAboutOurKey, isDamage, isFailedLookUp } from './words.ts';

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
  const rules = createRulesInForce({
    hub: program.hub,
    tryRules: (tried) => tryRules(instance, tried),
    log,
    onRefused,
  });
  let running: CrowdsecProcess | undefined;
  /** Started, and not yet known to stay. */
  let launched: CrowdsecProcess | undefined;
  let issue: string | null = null;
  let isWanted = false;
  /** Ends because it is to be another one. */
  let replaced: CrowdsecProcess | undefined;
  let starting: Promise<CrowdsecProcess> | undefined;
  let stopping: Promise<void> = Promise.resolve();
  const restarts = createRestarts(() => beginUnasked(), onAway);
  const place = alone(() => {
    log.warn('the connection that keeps CrowdSec on this node was lost');
    // Another node may start it now.
    (running ?? launched)?.stop().catch((err: unknown) => log.error({ err }, 'CrowdSec could not be ended'));
  });

  const isReady = async (): Promise<boolean> => running?.isRunning() === true && (await isUp(port));

  const launchOnce = async (): Promise<CrowdsecProcess> => {
    const { child, key } = await launch({
      instance,
      place,
      configure: configuration.atStart,
      isWanted: () => isWanted,
      onPrepared: damageWatch.begin,
      onStarted: (started) => {
        launched = started;
      },
    });
    launched = undefined;
    running = child;
    issue = null;
    const since = performance.now();
    void child.ended.then((reason) => {
      if (running === child) running = undefined;
      restarts.ranFor(performance.now() - since);
      if (!isWanted || child === replaced) return;
      recover(reason);
    });
    void waitUntilReady(child, port).then((ready) => {
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

  /** It ended by itself, and is started again: without what ended it, as far as that can be told and done. */
  const recover = (reason: string): void => {
    try {
      if (isDamage(reason)) renew(reason);
    } catch (err) {
      log.error({ err }, 'the damaged database of CrowdSec could not be set aside');
    }
    rules.leaveOut(reason);
    failed(reason);
  };

  /** Begins with a new database where the one that is there can't be used, and without scenarios that it can't load. */
  const launchMended = async (): Promise<CrowdsecProcess> => {
    for (let isRenewed = false; ; ) {
      try {
        return await launchOnce();
      } catch (error) {
        const reason = words(error);
        if (!isWanted) throw error;
        if (rules.leaveOut(reason)) continue;
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
    log.warn({ reason, againInMs: restarts.waitMs() }, 'CrowdSec does not run');
    restarts.later();
  };

  /** Nobody waits for its outcome: it is tried again. */
  const beginUnasked = (): void => {
    // One that runs would be taken for what an earlier server left behind, and ended.
    if (!isWanted || running?.isRunning()) return;
    begin().catch((error: unknown) => isWanted && failed(words(error)));
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

  const startAnew = async (child: CrowdsecProcess): Promise<void> => {
    replaced = child;
    running = undefined;
    stopping = child.stop().catch(() => undefined);
    if (isWanted) await begin().catch((error: unknown) => isWanted && failed(words(error)));
  };

  const configuration = followConfigured({ instance, rules, configured, running: () => running, startAnew });

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
      restarts.cancel();
      // Its hub may be another one since.
      if (!running?.isRunning()) rules.forgetRefusals();
      const wasWanted = isWanted;
      isWanted = true;
      try {
        const child = running?.isRunning() ? running : await begin();
        return { pid: child.pid, lapi_ready: await waitUntilReady(child, port) };
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

    /** Tells it what to judge by, and whom to tell, when that has changed. */
    followConfigured: configuration.follow,

    /** Leaves nothing of it where it could be found, whether it runs or not. */
    forgetConsole: (): void => writeConsole(instance, undefined),

    /** Names of the scenarios that it judges by. */
    scenarios: rules.names,

    /** Why a scenario that is to be in force is not, in its words. */
    refusalOf: rules.refusalOf,

    check: configuration.check,

    /** Starts it in the background, and goes on trying. */
    keep(): void {
      isWanted = true;
      beginUnasked();
    },

    /** Resolves when it has ended; whoever can't wait as long as it takes says so (nothing that it stored is lost by force). */
    async stop(politeMs?: number): Promise<void> {
      isWanted = false;
      issue = null;
      restarts.cancel();
      const ending = Promise.all([(running ?? launched)?.stop(politeMs), starting?.catch(() => undefined), stopping]);
      running = undefined;
      stopping = ending.then(() => place.release()).catch(() => undefined);
      await ending;
      await stopping;
    },
  };
};
