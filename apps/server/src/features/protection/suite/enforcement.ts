import type { Switches } from '@sallyport/store/security-switches';
import type { Logger } from 'pino';
import { createBatches } from '../../../dataplane/batches.ts';
import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { repeat } from '../../../dataplane/repeat.ts';
import type { CoreRuleSet } from '../rulesets/core-rule-set.ts';
import { createEnforcedBans, type DecisionSource } from './enforced-bans.ts';
import type { GuardConfigFile } from './guard-config-file.ts';
import { createJudging, type JudgingDeps } from './judging.ts';
import { createParts, isAway, type Part } from './parts.ts';
import { createRetry } from './retry.ts';
import { computeState, isEnforced, type SecurityFacts, type SecurityState } from './state.ts';

/** What enforcement reads; always the newest committed state. */
export interface EnforcementSource extends DecisionSource {
  facts(): Promise<SecurityFacts>;
  /** Changes with everything the state is computed from; cheap, because it is asked for all the time. */
  revision(): Promise<number>;
  switches(): Promise<Switches>;
  deleteExpiredDecisions(now: string): Promise<number>;
  /** Whether any of these proxy hosts has an access list or goes without the firewall. */
  hasSpecialHost(ids: readonly number[]): Promise<boolean>;
}

export interface EnforcementDeps {
  source: EnforcementSource;
  plane: EnforcementPlane;
  guardFile: GuardConfigFile;
  /** See `JudgingDeps`. */
  closeMoving: JudgingDeps['closeMoving'];
  core: () => CoreRuleSet | undefined;
  clock: () => Date;
  log: Logger;
}

/** Anything another process or node changed is noticed after this time; "within a second" is the promise. */
const POLL_MS = 300;
/** How often ended decisions that nobody enforced are removed from the store; no answer shows them any more. */
const SWEEP_MS = 60_000;

/** What HAProxy does by itself. */
const HELD_PARTS: readonly Part[] = ['whitelist', 'rate limit', 'bans', 'switches'];

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
export const createEnforcement = ({ source, plane, guardFile, closeMoving, core, clock, log }: EnforcementDeps) => {
  const parts = createParts(log);
  const retry = createRetry();
  let state: SecurityState | undefined;
  let stateIssue: string | null = null;
  /** Whether what is stored is taken for another store's. */
  let isStartingOver = false;
  /** Whether nobody but administrators is let through. */
  let isHeld = false;
  /** Whether HAProxy is to tell of every request; undefined: as it does. */
  let wantsTraffic: boolean | undefined;
  let seen = '';
  let sweepAt = 0;
  /** What was stored when all of it could not be read or made sense of; it may take a second of a core to find that out. */
  let unreadable: string | undefined;
  const rereading = createRetry();

  const attempted = () => retry.attempted(parts.isWhole(), clock().getTime());
  const judging = createJudging({ plane, guardFile, parts, newest: () => state, closeMoving, onTurn: attempted });
  const bans = createEnforcedBans({
    source,
    plane,
    parts,
    clock,
    isEnforced: (ban) => state !== undefined && isEnforced(state, ban),
  });

  const readStored = async (): Promise<string> =>
    `${await source.revision()} ${JSON.stringify(await source.switches())}`;

  const release = async (): Promise<boolean> => {
    isHeld = false;
    await parts.change('bans', plane.release);
    return parts.isTaken('bans');
  };

  /** Returns whether the set of bans to enforce is another one now. */
  const applyState = async (): Promise<boolean> => {
    seen = await readStored();
    const before = state;
    state = computeState(await source.facts(), core(), clock().getTime());
    stateIssue = state.issue;
    // Whoever switches all of it off meanwhile, as an emergency reset does, is locked out or fears to be.
    if (isHeld && !isStartingOver && before?.bansEnforced && !state.bansEnforced) await release();
    const { whitelist, rateLimit, switches } = state;
    // The whitelist first, so that nothing new stops an administrator.
    await parts.tell('whitelist', whitelist, () => plane.applyWhitelist(whitelist));
    if (isStartingOver) await judging.demand(state);
    else await judging.stopAsking(switches);
    judging.takeTurn();
    await parts.tell('rate limit', rateLimit, () => plane.applyRateLimit(rateLimit));
    const isTold = wantsTraffic;
    if (isTold !== undefined) await parts.tell('traffic', isTold, () => plane.applyTraffic(isTold));
    return before?.bansEnforced !== state.bansEnforced || before.crowdsecEnforced !== state.crowdsecEnforced;
  };

  const apply = async ({ state: isState, allBans, networks }: Work): Promise<void> => {
    let isAll = allBans;
    if (isState || !state) isAll = (await applyState()) || isAll;
    // An emergency reset since the state was read has let everybody in: what is told now must not shut them out again.
    if (isHeld && state?.bansEnforced && !(await source.switches()).guard) await release();
    if (isAll || parts.hasIssue('bans')) await bans.replace();
    else if (networks.size > 0) await bans.update([...networks]);
    attempted();
  };

  const work = async (batch: Work): Promise<void> => {
    try {
      await apply(batch);
      unreadable = undefined;
    } catch (error) {
      // Nothing of this may be taken for done, nor for seen: the next look at the store finds it all to be new.
      seen = '';
      bans.forget();
      stateIssue = 'what is stored could not be read';
      throw error;
    }
  };

  const { enqueue, idle } = createBatches(noWork, work);

  const expireBans = async (now: number): Promise<void> => {
    const ended = bans.ended(now);
    if (ended.length === 0) return;
    await enqueue((batch) => {
      for (const network of ended) batch.networks.add(network);
    });
  };

  const poll = async (): Promise<void> => {
    const now = clock().getTime();
    const found = noWork();
    const stored = await readStored();
    const decisions = await source.decisionVersion();
    const version = `${stored} ${decisions}`;
    found.state = stored !== seen;
    // Somebody emptied it, or a HAProxy was started meanwhile and had it rendered.
    if (!guardFile.isIntact()) found.state = true;
    found.allBans = bans.isBehind(decisions);
    if (now >= (state?.nextExpiry ?? Number.POSITIVE_INFINITY)) found.state = true;
    if (retry.isDue(now)) found.state = true;
    const isKnownToFail = version === unreadable && !rereading.isDue(now);
    if (hasWork(found) && !isKnownToFail) {
      try {
        await enqueue((batch) => {
          batch.state ||= found.state;
          batch.allBans ||= found.allBans;
        });
        rereading.attempted(true, now);
      } catch (error) {
        unreadable = version;
        rereading.attempted(false, now);
        throw error;
      }
    }
    if (bans.hasEnded(now) || now >= sweepAt) {
      sweepAt = now + SWEEP_MS;
      await source.deleteExpiredDecisions(new Date(now).toISOString());
      await expireBans(now);
    }
  };

  const refresh = async (): Promise<void> => {
    await enqueue((batch) => {
      batch.state = true;
    });
    await judging.idle();
  };

  return {
    /** Answers 503 to everybody but administrators until `release`; rejects when HAProxy runs and does not do so. */
    async hold(): Promise<void> {
      isHeld = true;
      const { applied, issue } = await parts.inTurn(plane.hold);
      if (!applied && !isAway(issue)) throw new Error(`the proxy could not be closed: ${issue}`);
    },

    /** Lets everybody through again who is not banned; resolves with whether that is so. */
    release,

    /** Whether the suite is to enforce nothing; the newest that is stored, or what an emergency reset wants. */
    isOff: async (): Promise<boolean> => !(await source.switches()).guard,

    /**
     * Tells everything again as if nothing of it had ever been in force, for a store that was put back: guards that don't serve
     * its configuration yet refuse from now on. Resolves with whether HAProxy was told all of it; guards may take longer.
     */
    async startOver(): Promise<boolean> {
      isStartingOver = true;
      parts.forget();
      try {
        await enqueue((batch) => {
          batch.state = true;
          batch.allBans = true;
        });
      } finally {
        isStartingOver = false;
      }
      return HELD_PARTS.every(parts.isTaken);
    },

    /** Resolves when everything stored before the call is enforced, or when it is known why it is not. */
    refresh,

    /** Reads everything and tells everything again: at start, and when HAProxy or the guards lost what they knew. */
    async replay(): Promise<void> {
      parts.forget();
      await enqueue((batch) => {
        batch.state = true;
        batch.allBans = true;
      });
      await judging.idle();
    },

    /** See `DecisionPlane` of the decisions. */
    async decisionsChanged(networks: readonly string[], version: number): Promise<void> {
      // After a gap the poll reads them all.
      bans.willKnow(version);
      await enqueue((batch) => {
        for (const network of networks) batch.networks.add(network);
      });
    },

    /** Of these hosts those for which the guards know an access list. */
    listedHosts(ids: readonly number[]): number[] {
      const listed = new Set(
        judging
          .hosts()
          .filter(({ access_list_id }) => access_list_id !== null)
          .map(({ id }) => id),
      );
      return ids.filter((id) => listed.has(id));
    },

    /**
     * To be awaited before the routes of these hosts go live: the guards have to know their access lists by then. What it
     * resolves with is to be called when they are, or won't be: only then guards are held to what they have forgotten.
     */
    async hostsChanged(ids: readonly number[]): Promise<() => void> {
      const settle = judging.routesChange();
      try {
        const changing = new Set(ids);
        // What was read of the store may not have been told yet.
        const isKnown = judging.hosts().some(({ id }) => changing.has(id));
        if (isKnown || (await source.hasSpecialHost(ids))) await refresh();
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
    isTrafficTold: (): boolean => parts.isTold('traffic', 'true'),

    /** Which modules act, as far as this node knows; none before the first state was read. */
    inForce: (): ModulesInForce => ({
      guard: state?.bansEnforced === true,
      acl: state?.guard.access.enabled === true,
      waf: state?.guard.waf.enabled === true,
      crowdsec: state?.crowdsecEnforced === true,
    }),

    status: (): { applied: boolean; issue: string | null; revision: number } => {
      const all = [...(stateIssue === null ? [] : [stateIssue]), ...parts.problems()];
      return { applied: all.length === 0, issue: all.join('; ') || null, revision: guardFile.revision() };
    },

    /** What is wrong with the guards at the moment, when requests need a verdict; `isJudged`: whether they get one. */
    judging: judging.health,

    /** Bans in force on this node. */
    banCount: bans.count,

    /** Looks for changes nobody reported and for what ends by itself, until stopped. */
    watch(): { stop(): Promise<void> } {
      const polling = repeat('compare security state', POLL_MS, poll, log);
      return {
        async stop() {
          await polling.stop();
          await idle();
          await judging.idle();
        },
      };
    },
  };
};
export type Enforcement = ReturnType<typeof createEnforcement>;
