import type { GuardSwitches } from '@sallyport/enforcement/entries';
import type { Applied } from '@sallyport/enforcement/live-map';
import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import type { GuardConfigFile } from './guard-config-file.ts';
import { judgedAnew } from './judged-anew.ts';
import type { Parts } from './parts.ts';
import type { SecurityState } from './state.ts';

export interface JudgingDeps {
  plane: EnforcementPlane;
  guardFile: GuardConfigFile;
  parts: Parts;
  /** The newest state that was computed. */
  newest: () => SecurityState | undefined;
  /**
   * Has those of these hosts that are about to move to another origin answer 503 until what it resolves with is called: neither
   * of their origins may be reached by what is said of the other.
   */
  closeMoving: (ids: readonly number[]) => Promise<() => Promise<void>>;
  /** Called after each turn, whatever came of it. */
  onTurn: () => void;
}

/**
 * What the guards know and what HAProxy asks them. Guards take seconds to compile rules, and may hang: this has turns of its
 * own, for which nothing waits that HAProxy can do alone.
 */
export const createJudging = ({ plane, guardFile, parts, newest, closeMoving, onTurn }: JudgingDeps) => {
  /** The switches that HAProxy has. */
  let inForce: GuardSwitches | undefined;
  /** Newest configuration that every guard was seen to serve. */
  let guardsServe: number | undefined;
  /** What guards judge by, as far as they were told. */
  let told: SecurityState['guard'] | undefined;
  /** How many changes of hosts are on their way to the routes. */
  let routesUnderway = 0;
  let turns: Promise<void> = Promise.resolve();

  const tellSwitches = (switches: GuardSwitches): Promise<void> =>
    parts.tell('switches', switches, async () => {
      const result = await plane.applySwitches(switches);
      if (result.applied) inForce = switches;
      return result;
    });

  /** HAProxy no longer goes by what was passed before: guards are about to be told something else. */
  const forgetPasses = async (): Promise<void> => {
    if (inForce && inForce.remembered > 0) await tellSwitches({ ...inForce, remembered: 0 });
  };

  const tellGuards = async (content: SecurityState['guard']): Promise<Applied> => {
    await guardFile.write(content, forgetPasses);
    const revision = guardFile.revision();
    // Every guard has it.
    if (parts.isTold('guards', String(revision))) return { applied: true, issue: null };
    const result = await plane.applyGuardConfig({ revision, ...content });
    // Unless something newer is demanded by now.
    if (result.applied && revision === guardFile.revision()) {
      guardsServe = revision;
      parts.noteTold('guards', String(revision));
    }
    return result;
  };

  /** Hosts that are judged, and otherwise as soon as guards know this. */
  const rejudged = ({ hosts }: SecurityState['guard']): number[] =>
    told && (inForce?.judgeAccess || inForce?.judgeWaf) ? judgedAnew(told.hosts, hosts) : [];

  /**
   * What verdicts have to be of: what guards serve, so that one that comes back with something older refuses. Before any was
   * seen that is what is on disk for them. As long as routes may still ask for a list that guards have forgotten it stays as it is:
   * a guard has the last word about what it is ahead of, and refuses what it should know of.
   */
  const requiredPolicy = (): number =>
    (routesUnderway > 0 ? inForce?.policy : undefined) ?? guardsServe ?? guardFile.revision();

  /** What a pass may be remembered by: what all guards judge by, and nothing while routes change. */
  const rememberedPolicy = (judgeAccess: boolean): number =>
    judgeAccess && routesUnderway === 0 && guardsServe === guardFile.revision() ? guardsServe : 0;

  const isBehind = ({ judgeAccess, policy, remembered }: GuardSwitches): boolean =>
    policy !== requiredPolicy() || remembered !== rememberedPolicy(judgeAccess);

  /** What the guards have to know of the newest state, and then what they are asked: nothing that they don't know yet. */
  const turn = async (): Promise<void> => {
    const state = newest();
    if (!state) return;
    const { guard, switches } = state;
    let reopen = async (): Promise<void> => {};
    await parts.run('guards', async () => {
      const changed = rejudged(guard);
      if (changed.length > 0) reopen = await closeMoving(changed);
      try {
        return await tellGuards(guard);
      } finally {
        told = guard;
      }
    });
    // Meanwhile another state may have come; its own turn follows.
    if (newest()?.switches === switches) {
      const remembered = rememberedPolicy(switches.judgeAccess);
      await tellSwitches({ ...switches, policy: requiredPolicy(), remembered });
    }
    await reopen();
    onTurn();
  };

  const takeTurn = (): void => {
    turns = turns.then(turn);
  };

  return {
    takeTurn,
    /** Resolves when the turns taken so far are over. */
    idle: (): Promise<void> => turns,

    /**
     * Ends now what is not to be asked of the guards any more, whatever they are busy with, and before they forget it: one
     * that is asked for more than it knows of refuses.
     */
    async stopAsking({ judgeAccess, judgeWaf, failMode }: SecurityState['switches']): Promise<void> {
      if (!inForce) return;
      await tellSwitches({
        ...inForce,
        judgeAccess: judgeAccess && inForce.judgeAccess,
        judgeWaf: judgeWaf && inForce.judgeWaf,
        failMode,
      });
    },

    /**
     * Demands of guards what they were not even told yet: those that serve anything older refuse from now on. For a store that
     * was put back, while nobody is let through.
     */
    async demand({ guard, switches }: SecurityState): Promise<void> {
      guardsServe = undefined;
      told = undefined;
      await guardFile.write(guard);
      await tellSwitches({ ...switches, policy: guardFile.revision(), remembered: 0 });
    },

    /** The hosts that guards know something of. */
    hosts: (): SecurityState['guard']['hosts'] => told?.hosts ?? [],

    /** Routes are about to change; what it returns is to be called when they have, or won't. */
    routesChange(): () => void {
      routesUnderway += 1;
      return () => {
        routesUnderway -= 1;
        if (routesUnderway === 0 && inForce && isBehind(inForce)) takeTurn();
      };
    },

    /** What is wrong with the guards at the moment, when requests need a verdict; `isJudged`: whether they get one. */
    async health(): Promise<{ isJudged: boolean; issue: string | null }> {
      const { judgeAccess, judgeWaf, failMode } = inForce ?? {};
      const judges = judgeAccess || judgeWaf ? await plane.judges() : undefined;
      if (!judges || (judges.total > 0 && judges.away.length === 0)) return { isJudged: true, issue: null };
      if (judges.away.length < judges.total) {
        const does = judges.away.length === 1 ? 'does' : 'do';
        return { isJudged: true, issue: `${judges.away.join(', ')} ${does} not answer: the other guards judge alone` };
      }
      const fate = failMode === 'open' ? 'pass without one (waf_fail_mode is open)' : 'are refused with 503';
      return { isJudged: false, issue: `no guard answers: requests that need a verdict ${fate}` };
    },
  };
};
