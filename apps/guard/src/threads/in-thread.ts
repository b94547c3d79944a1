import { parentPort, workerData } from 'node:worker_threads';
import type { GuardConfig, GuardMessage } from '@sallyport/contract';
import { guardFiles } from '@sallyport/server/dataplane/enforcement-layout';
import { findCountryDatabase, openCountryDatabase } from '@sallyport/server/features/access-lists/country-database';
import type { RuleSet } from '@sallyport/waf';
import { createPolicy, type Policy } from '../policy/policy.ts';
import { compileRules, InvalidRules, rulesKey } from '../policy/rules.ts';
import { openSlot, slabIn } from '../tell/count-file.ts';
import { createCounter } from '../tell/counts.ts';
import type { FromThread, ThreadData } from './protocol.ts';

const HEARTBEAT_MS = 100;
/** Lines of one turn of the event loop: a flood of attacks must not fill the main thread's memory. */
const LINES_PER_TURN = 100;

/** What every thread of a worker needs: its counters, its policy, and a way to tell. */
export const createThread = () => {
  const data = workerData as ThreadData;
  const port = parentPort;
  if (!port) throw new Error('this file runs in a thread');
  const slab = slabIn(data.shared, data.slot);
  const slot = openSlot(guardFiles(data.dataDir, data.index).counters, data.slot, slab);
  const counter = createCounter(slab);
  const beat = new Int32Array(data.heartbeat);
  const countryPath = findCountryDatabase(data.dataDir);
  const country = countryPath === undefined ? undefined : openCountryDatabase(countryPath);
  let policy: Policy | undefined;
  let postponed: GuardConfig | undefined;
  let rules: { key: string; ruleSet: RuleSet } | undefined;
  let linesLeft = LINES_PER_TURN;
  let isTurnEnding = false;

  const say = (message: FromThread): void => port.postMessage(message);

  /** Writes the counters, before the answer goes out: who is answered is counted, even if this process is killed now. */
  const counted = (): void => slot.save();

  const mayTell = (): boolean => {
    if (!isTurnEnding) {
      isTurnEnding = true;
      setImmediate(() => {
        isTurnEnding = false;
        linesLeft = LINES_PER_TURN;
      });
    }
    return linesLeft-- > 0;
  };

  const rulesFor = ({ waf }: GuardConfig): RuleSet | null => {
    if (!waf.enabled) return null;
    const key = rulesKey(waf.rule_sources);
    if (rules?.key !== key) {
      const geo = country && ((address: string) => ({ COUNTRY_CODE: country(address) ?? '' }));
      rules = { key, ruleSet: compileRules(waf.rule_sources, geo) };
    }
    return rules.ruleSet;
  };

  setInterval(() => void Atomics.add(beat, 0, 1), HEARTBEAT_MS).unref();

  return {
    data,
    port,
    say,
    counter,
    counted,
    /** The policy in force; undefined when there is none. Prepares one that was postponed. */
    policy(): Policy | undefined {
      if (postponed) {
        const config = postponed;
        postponed = undefined;
        policy = createPolicy(config, { ruleSet: rulesFor(config), country });
      }
      return policy;
    },

    hasPolicy: (): boolean => policy !== undefined || postponed !== undefined,

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

    /**
     * Puts a configuration in force that another thread has found good; it is prepared when it is first needed, because
     * a compiled Core Rule Set takes 100 MB.
     */
    adoptLater(config: GuardConfig): void {
      policy = undefined;
      postponed = config;
      say({ type: 'serving', revision: config.revision });
    },

    close(): void {
      slot.save();
      slot.close();
    },
  };
};
