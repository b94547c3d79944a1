import type { GuardConfig } from '@sallyport/contract';
import type { Agent } from './judge/agent.ts';
import { rulesKey } from './policy/rules-key.ts';
import type { Adoption, RunningThread } from './threads/run-thread.ts';

/** Old rules stay for answers to requests that they have judged. */
const LINGER_MS = 60_000;

export interface SeatDeps {
  /** Answers HAProxy in this thread: enough for access lists, which are looked up at once. */
  openAgent: () => Agent;
  /** Starts a thread that judges. */
  startThread: (config: GuardConfig) => RunningThread;
  /** Puts a configuration in force in this process, for all that is asked from then on; `keepsRules`: its rules are as before. */
  enforce: (config: GuardConfig, keepsRules: boolean) => void;
}

/** The rules that a configuration judges by; undefined when it has none. Throws when a file of them is not there. */
const keyOf = ({ waf }: GuardConfig): string | undefined => (waf.enabled ? rulesKey(waf.rule_sources) : undefined);

/**
 * Who answers HAProxy: this thread while there are no rules, so that a guard which inspects nothing holds nothing; else a thread
 * with these rules. Other rules are compiled by a new thread while the old one judges, and take its place at once.
 */
export const createSeat = ({ openAgent, startThread, enforce }: SeatDeps) => {
  let agent: Agent | undefined;
  let thread: RunningThread | undefined;
  let key: string | undefined;

  const leave = async (formerAgent: Agent | undefined, former: RunningThread | undefined): Promise<void> => {
    await Promise.all([formerAgent?.stop(), former?.retire(LINGER_MS)]);
  };

  const sitHere = async (config: GuardConfig, keepsRules: boolean): Promise<void> => {
    enforce(config, keepsRules);
    if (agent) return;
    const [former, next] = [thread, openAgent()];
    await next.listen();
    agent = next;
    thread = undefined;
    await leave(undefined, former);
  };

  const sitInThread = async (config: GuardConfig): Promise<Adoption> => {
    const next = startThread(config);
    const adoption = await next.started;
    if (adoption.diagnostics.length > 0) {
      void next.retire(0);
      return adoption;
    }
    await next.listening;
    const [formerAgent, former] = [agent, thread];
    agent = undefined;
    thread = next;
    enforce(config, false);
    await leave(formerAgent, former);
    return adoption;
  };

  return {
    /** Puts a configuration in force, or says why not. Throws when a file of its rules is not there. */
    async adopt(config: GuardConfig): Promise<Adoption> {
      const next = keyOf(config);
      const keepsRules = next === key;
      let adoption: Adoption = { revision: config.revision, diagnostics: [] };
      if (next === undefined) await sitHere(config, keepsRules);
      else if (thread && keepsRules) {
        adoption = await thread.adopt(config);
        if (adoption.diagnostics.length === 0) enforce(config, true);
      } else adoption = await sitInThread(config);
      if (adoption.diagnostics.length === 0) key = next;
      return adoption;
    },

    /** Answers without anything to judge by: each question is refused, and told. */
    async open(): Promise<void> {
      agent = openAgent();
      await agent.listen();
    },

    /** Whether anybody answers. */
    isTaken: (): boolean => agent !== undefined || thread !== undefined,

    thread: (): RunningThread | undefined => thread,

    async stop(): Promise<void> {
      void thread?.retire(0);
      await Promise.all([agent?.stop(), thread?.exited]);
    },
  };
};
