import { parentPort, workerData } from 'node:worker_threads';
import type { GuardConfig, GuardMessage } from '@sallyport/contract';
import { collectAll } from '@sallyport/deployment/collect-all';
import { guardFiles } from '@sallyport/deployment/places';
import type { RuleSet } from '@sallyport/waf';
import { findCountry } from '../policy/country.ts';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { compileRules, InvalidRules } from '../policy/rules.ts';
import { rulesKey } from '../policy/rules-key.ts';
import { openSlot, slabIn } from '../tell/count-file.ts';
import { createCounter } from '../tell/counts.ts';
import { createLineLimit } from '../tell/line-limit.ts';
import type { FromThread, ThreadData } from './protocol.ts';

const HEARTBEAT_MS = 100;

/** What every thread of a worker needs: its counters, its policy, and a way to tell. */
export const createThread = () => {
  const data = workerData as ThreadData;
  const port = parentPort;
  if (!port) throw new Error('this file runs in a thread');
  const slab = slabIn(data.shared, data.slot);
  const slot = openSlot(guardFiles(data.dataDir, data.index).counters, data.slot, slab);
  const counter = createCounter(slab);
  const beat = new Int32Array(data.heartbeat);
  const country = findCountry(data.dataDir);
  const mayTell = createLineLimit();
  let policy: Policy | undefined;
  let rules: { key: string; ruleSet: RuleSet } | undefined;

  const say = (message: FromThread): void => port.postMessage(message);

  const rulesFor = ({ waf }: GuardConfig): RuleSet | null => {
    if (!waf.enabled) return null;
    const key = rulesKey(waf.rule_sources);
    if (rules?.key !== key) {
      const geo = country && ((address: string) => ({ COUNTRY_CODE: country(address) ?? '' }));
      rules = { key, ruleSet: compileRules(waf.rule_sources, geo) };
      // Compiling leaves several times as much garbage as rules.
      collectAll();
    }
    return rules.ruleSet;
  };

  setInterval(() => void Atomics.add(beat, 0, 1), HEARTBEAT_MS).unref();

  return {
    data,
    port,
    say,
    counter,
    /** Writes the counters, before the answer goes out: who is answered is counted, even if this process is killed now. */
    counted: (): void => slot.save(),
    /** The policy in force; undefined when there is none. */
    policy: (): Policy | undefined => policy,

    tell(message: GuardMessage): void {
      if (mayTell()) say({ type: 'line', line: JSON.stringify(message) });
      else counter.add('dropped_messages');
    },

    /** Puts a configuration in force, or leaves the present one and says why. Returns whether it did. */
    adopt(config: GuardConfig): boolean {
      try {
        policy = createPolicy(config, { ruleSet: rulesFor(config), country });
        say({ type: 'serving', revision: config.revision });
        return true;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        const diagnostics = error instanceof InvalidRules ? [...error.diagnostics] : [reason];
        say({ type: 'refused', revision: config.revision, diagnostics });
        return false;
      }
    },

    close(): void {
      slot.save();
      slot.close();
      port.close();
    },
  };
};
