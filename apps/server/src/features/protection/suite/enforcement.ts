import type { GuardSwitches } from '@sallyport/enforcement/entries';
import type { Applied } from '@sallyport/enforcement/live-map';
import type { Switches } from '@sallyport/store/security-switches';
import type { Logger } from 'pino';
import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { repeat } from '../../../dataplane/repeat.ts';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';
import { type Ban, endedBans, foldBans, type NetworkBan, toEntries } from './bans.ts';
import type { GuardConfigFile } from './guard-config-file.ts';
import { computeState, isEnforced, type SecurityFacts, type SecurityState } from './state.ts';

/** What enforcement reads; always the newest committed state. */
export interface EnforcementSource {
  facts(): Promise<SecurityFacts>;
  /** Changes with everything the state is computed from; cheap, because it is asked for all the time. */
  revision(): Promise<number>;
  switches(): Promise<Switches>;
  /** Grows with every change of decisions. */
  decisionVersion(): Promise<number>;
  liveDecisions(now: string): Promise<Ban[]>;
  liveDecisionsFor(networks: readonly string[], now: string): Promise<Ban[]>;
  deleteExpiredDecisions(now: string): Promise<number>;
  /** Whether any of these proxy hosts has an access list or goes without the firewall. */
  hasSpecialHost(ids: readonly number[]): Promise<boolean>;
}

export interface EnforcementDeps {
  source: EnforcementSource;
  plane: EnforcementPlane;
  guardFile: GuardConfigFile;
  core: () => CoreRuleSet | undefined;
  clock: () => Date;
  log: Logger;
}

/** Anything another process or node changed is noticed after this time; "within a second" is the promise. */
const POLL_MS = 300;
/** How long after a failure everything is tried again; doubles up to the second figure. */
const RETRY_MS = [1_000, 30_000] as const;
/** How often ended decisions that nobody enforced are removed from the store; no answer shows them any more. */
const SWEEP_MS = 60_000;

type Part = 'whitelist' | 'guards' | 'rate limit' | 'traffic' | 'bans' | 'switches';

interface Work {
  state: boolean;
  allBans: boolean;
  networks: Set<string>;
}

const noWork = (): Work => ({ state: false, allBans: false, networks: new Set() });
const hasWork = ({ state, allBans, networks }: Work) => state || allBans || networks.size > 0;

/** Modules of the suite that act: their own switch and the master switch are on. */
export interface ModulesInForce {
  guard: boolean;
  acl: boolean;
  waf: boolean;
  /** Decisions of CrowdSec count. */
  crowdsec: boolean;
}

/**
 * Keeps the data plane and the guards equal to what the store says the suite has to enforce. Level-triggered: whatever
 * is reported, the newest stored state is read and what differs from the applied one is applied. Nothing here rejects
 * because HAProxy or a guard is away; `status` tells.
 */
export const createEnforcement = ({ source, plane, guardFile, core, clock, log }: EnforcementDeps) => {
  const issues = new Map<Part, string>();
  /** Parts that are being told something, or wait for it. */
  const underway: Part[] = [];
  /** JSON of what each part was last told, kept only while it is in force. */
  const told = new Map<Part, string>();
  let bans = new Map<string, NetworkBan>();
  let nextBanEnd = Number.POSITIVE_INFINITY;
  let state: SecurityState | undefined;
  /** The switches that HAProxy has. */
  let switchesInForce: GuardSwitches | undefined;
  /** Newest configuration that every guard was seen to serve. */
  let guardsServe: number | undefined;
  /** How many changes of hosts are on their way to the routes. */
  let routesUnderway = 0;
  let stateIssue: string | null = null;
  /** Whether HAProxy is to tell of every request; undefined: as it does. */
  let wantsTraffic: boolean | undefined;
  let seen = '';
  let knownVersion = -1;
  let pending = noWork();
  let next: Promise<void> | undefined;
  let running: Promise<void> = Promise.resolve();
  /** Guards take seconds to compile rules, and may hang: what HAProxy can do alone does not wait for them. */
  let guarding: Promise<void> = Promise.resolve();
  /** Calls that are for HAProxy, one after the other. */
  let telling: Promise<unknown> = Promise.resolve();
  let retryMs: number = RETRY_MS[0];
  let retryAt = Number.POSITIVE_INFINITY;
  let sweepAt = 0;

  const run = async (part: Part, apply: () => Promise<Applied>, content?: string): Promise<void> => {
    underway.push(part);
    try {
      settle(part, await apply(), content);
    } catch (err) {
      // A full disk, for example. It is tried again like everything else that is not in force.
      log.error({ err, part }, 'a part of the suite could not be enforced');
      settle(part, { applied: false, issue: err instanceof Error ? err.message : String(err) }, content);
    } finally {
      underway.splice(underway.indexOf(part), 1);
    }
  };

  const settle = (part: Part, { applied, issue }: Applied, content: string | undefined) => {
    if (applied) {
      issues.delete(part);
      if (content !== undefined) told.set(part, content);
    } else {
      issues.set(part, issue ?? 'not applied');
      told.delete(part);
    }
  };

  const inTurn = (apply: () => Promise<Applied>): Promise<Applied> => {
    const turn = telling.then(apply);
    telling = turn.catch(() => {});
    return turn;
  };

  const tell = async (part: Part, content: unknown, apply: () => Promise<Applied>): Promise<void> => {
    const text = JSON.stringify(content);
    if (told.get(part) === text) return;
    await run(part, () => inTurn(apply), text);
  };

  const tellSwitches = (switches: GuardSwitches): Promise<void> =>
    tell('switches', switches, async () => {
      const result = await plane.applySwitches(switches);
      if (result.applied) switchesInForce = switches;
      return result;
    });

  const retryLater = () => {
    if (issues.size === 0) {
      retryMs = RETRY_MS[0];
      retryAt = Number.POSITIVE_INFINITY;
    } else if (retryAt === Number.POSITIVE_INFINITY) {
      retryAt = clock().getTime() + retryMs;
      retryMs = Math.min(retryMs * 2, RETRY_MS[1]);
    }
  };

  const enforced = (live: readonly Ban[]): Ban[] => live.filter((ban) => state !== undefined && isEnforced(state, ban));

  const notice = () => {
    nextBanEnd = endedBans(bans, Number.NEGATIVE_INFINITY).nextEnd;
  };

  const replaceBans = async (): Promise<void> => {
    const version = await source.decisionVersion();
    const live = await source.liveDecisions(clock().toISOString());
    bans = foldBans(enforced(live));
    await run('bans', () => inTurn(() => plane.applyDecisions({ type: 'replace', entries: toEntries(bans) })));
    knownVersion = version;
    notice();
  };

  const updateBans = async (networks: readonly string[]): Promise<void> => {
    const live = foldBans(enforced(await source.liveDecisionsFor(networks, clock().toISOString())));
    const remove: string[] = [];
    for (const network of networks) {
      const ban = live.get(network);
      if (ban) bans.set(network, ban);
      else if (bans.delete(network)) remove.push(network);
    }
    if (live.size + remove.length === 0) return;
    await run('bans', () => inTurn(() => plane.applyDecisions({ type: 'update', put: toEntries(live), remove })));
    notice();
  };

  const applyGuards = (content: SecurityState['guard']): Promise<void> =>
    run('guards', async () => {
      await guardFile.write(content);
      const revision = guardFile.revision();
      // Every guard has it.
      if (told.get('guards') === String(revision)) return { applied: true, issue: null };
      const result = await plane.applyGuardConfig({ revision, ...content });
      if (result.applied) {
        guardsServe = revision;
        told.set('guards', String(revision));
      }
      return result;
    });

  /**
   * What verdicts have to be of: what guards serve, so that one that comes back with something older refuses. Before any was
   * seen that is what is on disk for them. As long as routes may still ask for a list that guards have forgotten it stays as it is:
   * a guard has the last word about what it is ahead of, and refuses what it should know of.
   */
  const requiredPolicy = (): number =>
    (routesUnderway > 0 ? switchesInForce?.policy : undefined) ?? guardsServe ?? guardFile.revision();

  /** What the guards have to know of the newest state, and then what they are asked: nothing that they don't know yet. */
  const applyJudging = async (): Promise<void> => {
    if (!state) return;
    const { guard, switches } = state;
    await applyGuards(guard);
    // Meanwhile another state may have come; its own turn follows.
    if (state.switches === switches) await tellSwitches({ ...switches, policy: requiredPolicy() });
    retryLater();
  };

  /** Returns whether the set of bans to enforce is another one now. */
  const applyState = async (): Promise<boolean> => {
    seen = `${await source.revision()} ${JSON.stringify(await source.switches())}`;
    const before = state;
    state = computeState(await source.facts(), core(), clock().getTime());
    stateIssue = state.issue;
    const { whitelist, rateLimit, switches } = state;
    // The whitelist first, so that nothing new stops an administrator.
    await tell('whitelist', whitelist, () => plane.applyWhitelist(whitelist));
    // What is not to be asked of the guards any more ends now, whatever they are busy with, and before they forget it: one
    // that is asked for more than it knows of refuses.
    if (switchesInForce) {
      await tellSwitches({
        ...switchesInForce,
        judgeAccess: switches.judgeAccess && switchesInForce.judgeAccess,
        judgeWaf: switches.judgeWaf && switchesInForce.judgeWaf,
        failMode: switches.failMode,
      });
    }
    guarding = guarding.then(applyJudging);
    await tell('rate limit', rateLimit, () => plane.applyRateLimit(rateLimit));
    const isTold = wantsTraffic;
    if (isTold !== undefined) await tell('traffic', isTold, () => plane.applyTraffic(isTold));
    return before?.bansEnforced !== state.bansEnforced || before.crowdsecEnforced !== state.crowdsecEnforced;
  };

  const apply = async ({ state: isState, allBans, networks }: Work): Promise<void> => {
    let isAll = allBans;
    if (isState || !state) isAll = (await applyState()) || isAll;
    if (isAll || issues.has('bans')) await replaceBans();
    else if (networks.size > 0) await updateBans([...networks]);
    retryLater();
  };

  const work = async (batch: Work): Promise<void> => {
    try {
      await apply(batch);
    } catch (error) {
      // Nothing of this may be taken for done, nor for seen: the next look at the store finds it all to be new.
      seen = '';
      knownVersion = -1;
      stateIssue = 'what is stored could not be read';
      throw error;
    }
  };

  /** Whoever asks while a pass runs shares the next one. */
  const enqueue = (add: (pending: Work) => void): Promise<void> => {
    add(pending);
    next ??= running
      .catch(() => {})
      .then(() => {
        const batch = pending;
        pending = noWork();
        next = undefined;
        running = work(batch);
        return running;
      });
    return next;
  };

  const expireBans = async (now: number): Promise<void> => {
    const { ended } = endedBans(bans, now);
    if (ended.length === 0) return;
    await enqueue((batch) => {
      for (const network of ended) batch.networks.add(network);
    });
  };

  const poll = async (): Promise<void> => {
    const now = clock().getTime();
    const found = noWork();
    found.state = `${await source.revision()} ${JSON.stringify(await source.switches())}` !== seen;
    // Somebody emptied it, or a HAProxy was started meanwhile and had it rendered.
    if (!guardFile.isIntact()) found.state = true;
    found.allBans = (await source.decisionVersion()) !== knownVersion;
    if (now >= (state?.nextExpiry ?? Number.POSITIVE_INFINITY)) found.state = true;
    if (now >= retryAt) {
      retryAt = Number.POSITIVE_INFINITY;
      found.state = true;
    }
    if (hasWork(found)) {
      await enqueue((batch) => {
        batch.state ||= found.state;
        batch.allBans ||= found.allBans;
      });
    }
    if (now >= nextBanEnd || now >= sweepAt) {
      sweepAt = now + SWEEP_MS;
      await source.deleteExpiredDecisions(new Date(now).toISOString());
      await expireBans(now);
    }
  };

  const refresh = async (): Promise<void> => {
    await enqueue((batch) => {
      batch.state = true;
    });
    await guarding;
  };

  return {
    /** Resolves when everything stored before the call is enforced, or when it is known why it is not. */
    refresh,

    /** Reads everything and tells everything again: at start, and when HAProxy or the guards lost what they knew. */
    async replay(): Promise<void> {
      told.clear();
      await enqueue((batch) => {
        batch.state = true;
        batch.allBans = true;
      });
      await guarding;
    },

    /** See `DecisionPlane` of the decisions. */
    async decisionsChanged(networks: readonly string[], version: number): Promise<void> {
      // A gap means that somebody else changed decisions as well; the poll then reads them all.
      if (version === knownVersion + 1) knownVersion = version;
      await enqueue((batch) => {
        for (const network of networks) batch.networks.add(network);
      });
    },

    /**
     * To be awaited before the routes of these hosts go live: the guards have to know their access lists by then. What it
     * resolves with is to be called when they are, or won't be: only then guards are held to what they have forgotten.
     */
    async hostsChanged(ids: readonly number[]): Promise<() => void> {
      routesUnderway += 1;
      const settle = () => {
        routesUnderway -= 1;
        if (routesUnderway === 0 && switchesInForce && switchesInForce.policy !== requiredPolicy())
          guarding = guarding.then(applyJudging);
      };
      try {
        const known = state?.guard.hosts ?? [];
        if (known.some(({ id }) => ids.includes(id)) || (await source.hasSpecialHost(ids))) await refresh();
        return settle;
      } catch (error) {
        settle();
        throw error;
      }
    },

    /** Has HAProxy tell of every request from now on, or not any more. Resolves when it does, or when it is known why it does not. */
    async tellTraffic(isWanted: boolean): Promise<void> {
      wantsTraffic = isWanted;
      await enqueue((batch) => {
        batch.state = true;
      });
    },

    /** Whether HAProxy tells of every request. */
    isTrafficTold: (): boolean => told.get('traffic') === 'true',

    /** Which modules act, as far as this node knows; none before the first state was read. */
    inForce: (): ModulesInForce => ({
      guard: state?.bansEnforced === true,
      acl: state?.guard.access.enabled === true,
      waf: state?.guard.waf.enabled === true,
      crowdsec: state?.crowdsecEnforced === true,
    }),

    status: (): { applied: boolean; issue: string | null; revision: number } => {
      const parts = [...new Set(underway)].map((part) => `a change of the ${part} is being applied`);
      // Parts mostly fail for one reason and name different commands after it.
      const reasons = new Map([...issues.values()].map((issue) => [issue.split(':', 1)[0], issue]));
      const all = [...(stateIssue === null ? [] : [stateIssue]), ...reasons.values(), ...parts];
      return { applied: all.length === 0, issue: all.join('; ') || null, revision: guardFile.revision() };
    },

    /** What is wrong with the guards at the moment, when requests need a verdict; `isJudged`: whether they get one. */
    async judging(): Promise<{ isJudged: boolean; issue: string | null }> {
      const { judgeAccess, judgeWaf, failMode } = switchesInForce ?? {};
      const judges = judgeAccess || judgeWaf ? await plane.judges() : undefined;
      if (!judges || (judges.total > 0 && judges.away.length === 0)) return { isJudged: true, issue: null };
      if (judges.away.length < judges.total) {
        const does = judges.away.length === 1 ? 'does' : 'do';
        return { isJudged: true, issue: `${judges.away.join(', ')} ${does} not answer: the other guards judge alone` };
      }
      const fate = failMode === 'open' ? 'pass without one (waf_fail_mode is open)' : 'are refused with 503';
      return { isJudged: false, issue: `no guard answers: requests that need a verdict ${fate}` };
    },

    /** Bans in force on this node. */
    banCount: (): number => bans.size,

    /** Looks for changes nobody reported and for what ends by itself, until stopped. */
    watch(): { stop(): Promise<void> } {
      const polling = repeat('compare security state', POLL_MS, poll, log);
      return {
        async stop() {
          await polling.stop();
          await running.catch(() => {});
          await guarding;
        },
      };
    },
  };
};
export type Enforcement = ReturnType<typeof createEnforcement>;
