import { setTimeout as delay } from 'node:timers/promises';
import { adminSocket } from '@sallyport/deployment/places';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { type AdminSocket, createAdminSocket, limitKey, routeFlags, switchKeys } from '@sallyport/haproxy';
import { SWITCH_KEYS, type Switches } from '@sallyport/store/security-switches';
import { pendingResets } from '../pending.ts';
import { amiss, type Outcome, reasonOf, well } from './outcome.ts';

const ANSWER_WITHIN_MS = 1_000;
/** A change that was just stored is in force within a second or two. */
const SETTLES_WITHIN_MS = 4_000;
const PAUSE_MS = 200;

type Module = Exclude<keyof Switches, 'guard'>;

const socketOf = (dataDir: string): AdminSocket =>
  createAdminSocket({ path: adminSocket(dataDir), silenceTimeoutMs: ANSWER_WITHIN_MS });

/** Whether this machine's HAProxy takes commands: what a reset opens it by. */
export const checkProxy = async (dataDir: string): Promise<Outcome> => {
  try {
    await socketOf(dataDir).ask({ words: ['show', 'version'] });
    return well('HAProxy takes commands');
  } catch (error) {
    return amiss(
      `${reasonOf(error)}: a reset opens it when it starts again; "sallyport status" tells about its process`,
    );
  }
};

/** What HAProxy does, of the modules that its maps tell apart; `bans`: whether a decision of anybody is in force. */
const readInForce = async (dataDir: string) => {
  const { switches, limits, bans } = createEnforcementMaps(dataDir, socketOf(dataDir));
  const held = new Map<string, string>();
  const hold = (key: string, value: string): void => void held.set(key, value);
  await switches.commands.forEach(hold);
  await limits.commands.forEach(hold);
  const sources = new Set<string>();
  await bans.commands.forEach((_network, reference) => {
    const [source = '', decision] = reference.split('/', 2);
    if (decision !== undefined) sources.add(source);
  });
  const unasked = Number(held.get(switchKeys.unasked) ?? 0);
  return {
    acl: (unasked & routeFlags.accessList) === 0,
    waf: (unasked & routeFlags.firewall) === 0,
    rate_limit: held.get(limitKey) !== '0',
    crowdsec: sources.has('crowdsec'),
    bans: sources.size > 0,
  };
};

/** Where HAProxy does something else than is stored, in words. */
const differences = (stored: Switches, found: Awaited<ReturnType<typeof readInForce>>): string[] => {
  const isWanted = (module: Module) => stored.guard && stored[module];
  const told = (module: Module, is: boolean) =>
    `${SWITCH_KEYS[module]} is ${is ? 'in force though it is stored as off' : 'not in force though it is stored as on'}`;
  const asked = (['acl', 'waf', 'rate_limit'] as const).filter((module) => found[module] !== isWanted(module));
  return [
    ...asked.map((module) => told(module, found[module])),
    // That there are none at the moment is nothing to wonder about.
    ...(found.crowdsec && !isWanted('crowdsec') ? [told('crowdsec', true)] : []),
    ...(found.bans && !stored.guard ? [`bans are in force though ${SWITCH_KEYS.guard} is stored as off`] : []),
  ];
};

/** Whether HAProxy does what the five switches say; `stored` reads them, and is asked again while a change is on its way. */
export const checkSwitches = async (dataDir: string, stored: () => Promise<Switches>): Promise<Outcome> => {
  const until = performance.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const found = await readInForce(dataDir);
    const wrong = differences(await stored(), found);
    if (wrong.length === 0) return well('HAProxy does what the five switches say');
    if (pendingResets(dataDir).length > 0) {
      return amiss('An emergency reset waits to be stored, and nothing is enforced until it is: see to the store');
    }
    if (performance.now() >= until) {
      return amiss(`${wrong.join('; ')}: GET /api/v1/security/status tells what keeps it from being applied`);
    }
    await delay(PAUSE_MS);
  }
};
