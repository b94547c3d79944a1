import { refuse } from '@sallyport/store/errors';
import type { Logger } from 'pino';
import type { Configured } from './configured.ts';
import type { Rules } from './instance.ts';
import { chosenOf, type HubPreset, type HubScenario, type PresetChoice, readHub } from './presets/hub.ts';
import { refusedFile } from './words.ts';

export interface RulesInForceDeps {
  /** Directory of the offline hub. */
  hub: string;
  /** What CrowdSec says against these rules; undefined when it takes them. */
  tryRules: (rules: Rules) => Promise<string | undefined>;
  log: Logger;
  /** It can't load this scenario, as the reason tells, and goes on without it. */
  onRefused: (scenario: string, reason: string) => void;
}

/** What CrowdSec judges by. A scenario that it can't load is left out, for one of them would keep it from starting. */
export const createRulesInForce = ({ hub, tryRules, log, onRefused }: RulesInForceDeps) => {
  let rules: Rules = { whitelist: [], scenarios: [] };
  /** Scenarios that it can't load, with its words. */
  const refused = new Map<string, string>();
  /** Scenarios that it took when they were tried. */
  let good: readonly HubScenario[] = [];

  const choose = (choices: readonly PresetChoice[]): HubScenario[] =>
    chosenOf(readHub(hub), choices).filter(({ name }) => !refused.has(name));

  const leaveOut = (reason: string, scenarios = rules.scenarios): boolean => {
    const file = refusedFile(reason);
    const name = scenarios.find((scenario) => scenario.file === file)?.name;
    if (name === undefined || refused.has(name)) return false;
    refused.set(name, reason);
    log.warn({ scenario: name, reason }, 'CrowdSec can not load a scenario, and goes on without it');
    onRefused(name, reason);
    return true;
  };

  /** It would load these for sure: nothing but what it judges by already, or took when it was tried. */
  const isKnownGood = (scenarios: readonly HubScenario[]): boolean => {
    const isIn = (known: readonly HubScenario[]) => {
      const names = new Set(known.map(({ name }) => name));
      return scenarios.every(({ name }) => names.has(name));
    };
    return isIn(rules.scenarios) || isIn(good);
  };

  return {
    /** Has these be in force: nothing else is written for the process from now on. */
    put(next: Rules): void {
      rules = next;
    },

    /** What a process that starts is to judge by, untried: it says at its start what it can't load. */
    chosen: ({ whitelist, choices }: Configured): Rules => ({ whitelist, scenarios: choose(choices) }),

    /** What a process that runs can judge by instead, as far as it can be loaded; else the scenarios that it has. */
    async loadable({ whitelist, choices }: Configured): Promise<Rules> {
      let scenarios = choose(choices);
      while (!isKnownGood(scenarios)) {
        const reason = await tryRules({ whitelist, scenarios });
        if (reason === undefined) break;
        const isNamed = leaveOut(reason, scenarios);
        if (!isNamed) {
          log.error({ reason }, 'CrowdSec can not load what it is to judge by, and goes on with what it has');
        }
        scenarios = isNamed ? choose(choices) : [...rules.scenarios];
      }
      return { whitelist, scenarios };
    },

    /** Throws a 422 with its words when it can't load a scenario of this preset, were the choices these. */
    async check(preset: HubPreset, { whitelist, choices }: Pick<Configured, 'whitelist' | 'choices'>): Promise<void> {
      const before = new Map(refused);
      for (const { name } of preset.scenarios) refused.delete(name);
      for (;;) {
        const scenarios = choose(choices);
        const reason = isKnownGood(scenarios) ? undefined : await tryRules({ whitelist, scenarios });
        if (reason === undefined) {
          good = scenarios;
          return;
        }
        const isOfPreset = preset.scenarios.some(({ file }) => file === refusedFile(reason));
        if (!isOfPreset && leaveOut(reason, scenarios)) continue;
        for (const [name, words] of before) refused.set(name, words);
        throw refuse.unprocessable(`CrowdSec refuses ${preset.name}: ${reason}`);
      }
    },

    /** Goes on without the scenario that these words are about. False when they are about none, or it did so before. */
    leaveOut: (reason: string): boolean => leaveOut(reason),

    /** Every scenario is tried again: the hub may be another one since. */
    forgetRefusals: (): void => refused.clear(),

    names: (): string[] => rules.scenarios.map(({ name }) => name),

    /** Why a scenario that is to be in force is not, in CrowdSec's words. */
    refusalOf: (scenario: string): string | undefined => refused.get(scenario),
  };
};
export type RulesInForce = ReturnType<typeof createRulesInForce>;
