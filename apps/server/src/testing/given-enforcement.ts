import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import { migrate } from '@sallyport/store/database/migrate';
import { type Database, openDatabase } from '@sallyport/store/database/open';
import { pino } from 'pino';
import type { EnforcementPlane } from '../dataplane/protection/port.ts';
import { createDecisions } from '../features/protection/decisions/service.ts';
import { decisionStore } from '../features/protection/decisions/store.ts';
import type { CoreRuleSet } from '../features/protection/rulesets/core-rule-set.ts';
import { createSecuritySource } from '../features/protection/stored.ts';
import { createEnforcement, type Enforcement } from '../features/protection/suite/enforcement.ts';
import { createGuardConfigFile, guardConfigPath } from '../features/protection/suite/guard-config-file.ts';
import { emptyStore } from './start-app.ts';
import { type Enforced, startEnforced } from './start-enforced.ts';

/** The plane of this process, and `note` is called with what it is told. */
const noted = (plane: EnforcementPlane, note: (what: string) => void): EnforcementPlane => {
  const tell = <T>(what: string, apply: () => T): T => {
    note(what);
    return apply();
  };
  return {
    applyDecisions: (change) => tell(`bans ${change.type}`, () => plane.applyDecisions(change)),
    applyWhitelist: (networks) => tell('whitelist', () => plane.applyWhitelist(networks)),
    applyRateLimit: (rateLimit) => tell('rate limit', () => plane.applyRateLimit(rateLimit)),
    applySwitches: (switches) => tell('switches', () => plane.applySwitches(switches)),
    applyTraffic: (isWanted) => tell('traffic', () => plane.applyTraffic(isWanted)),
    applyGuardConfig: (guard) => tell('guards', () => plane.applyGuardConfig(guard)),
    hold: () => tell('hold', plane.hold),
    release: () => tell('release', plane.release),
    judges: plane.judges,
  };
};

/** What guards are to know, as it is on disk. */
export const readGuardFile = (dataDir: string) =>
  JSON.parse(readFileSync(guardConfigPath(dataDir), 'utf8')) as GuardConfig;

/** A core rule set that compiles at once. */
const givenRules = (directory: string): CoreRuleSet => {
  const [setup, rules] = [join(directory, 'setup.conf'), join(directory, 'rules.conf')];
  writeFileSync(setup, 'SecRuleEngine On\n');
  writeFileSync(rules, 'SecRule ARGS "@contains attack" "id:1001,phase:2,deny,log"\n');
  return { directory, setup: [setup], rules: [rules] };
};

const START = Date.parse('2026-11-20T12:00:00.000Z');
export const actor = systemActor('test');

/** A node's enforcement with a store and a data plane of its own. */
export interface Given {
  database: Database;
  dataDir: string;
  enforcement: Enforcement;
  /** A real HAProxy. */
  haproxy: Enforced;
  /** Networks that it refuses, sorted. */
  bans(): Promise<string[]>;
  /** What the plane was told, in order. */
  order: string[];
  /** From when the plane is told this for the next time, an emergency reset waits to be stored. */
  resetWhenToldOf(what: string): void;
  /** Decisions of this node. */
  decisions: ReturnType<typeof createDecisions>;
  /** Decisions as another node makes them: this one's enforcement is not told. */
  elsewhere: ReturnType<typeof createDecisions>;
  /** How often it has looked whether something changed, and how often it has read everything. */
  counts: { looks: number; reads: number };
  advance(ms: number): void;
  setSetting(key: string, value: string): Promise<void>;
}

/** Does `work` with an enforcement that nothing was told yet, over an empty store of that kind. */
export const givenEnforcement = (kind: Parameters<typeof emptyStore>[0], work: (given: Given) => Promise<void>) =>
  emptyStore(kind, async (config) => {
    const database = openDatabase(config);
    const haproxy = await startEnforced(config);
    try {
      await migrate(database);
      let now = START;
      const clock = () => new Date(now);
      const order: string[] = [];
      let resetAt: string | undefined;
      let isReset = false;
      const note = (what: string) => {
        order.push(what);
        isReset ||= what === resetAt;
      };
      const rules = givenRules(config.dataDir);
      const source = createSecuritySource({
        db: database.kysely,
        isOwnApi: () => false,
        isResetPending: () => isReset,
      });
      const counts = { looks: 0, reads: 0 };
      const enforcement = createEnforcement({
        source: {
          ...source,
          revision() {
            counts.looks += 1;
            return source.revision();
          },
          facts() {
            counts.reads += 1;
            return source.facts();
          },
        },
        plane: noted(haproxy.plane, note),
        guardFile: createGuardConfigFile(config.dataDir),
        async closeMoving(ids) {
          note(`close ${ids.join()}`);
          return async () => note('open');
        },
        core: () => rules,
        clock,
        log: pino({ level: 'silent' }),
      });
      const common = {
        db: database.kysely,
        transact: database.transact,
        store: decisionStore,
        whitelist: async () => [],
        inForce: enforcement.inForce,
        record: async () => {},
        clock,
      };
      await work({
        database,
        dataDir: config.dataDir,
        enforcement,
        haproxy,
        bans: async () => [...(await haproxy.bans()).keys()].sort(),
        order,
        resetWhenToldOf(what) {
          resetAt = what;
        },
        decisions: createDecisions({ ...common, plane: enforcement }),
        elsewhere: createDecisions({ ...common, plane: { decisionsChanged: async () => {} } }),
        counts,
        advance(ms) {
          now += ms;
        },
        async setSetting(key, value) {
          await database.transact((tx) =>
            tx
              .insertInto('settings')
              .values({ key, value })
              .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
              .execute(),
          );
        },
      });
    } finally {
      await haproxy.stop();
      await database.stop();
    }
  });

/** A ban by hand; without `duration` until it is lifted. */
export const ban = ({ decisions }: Given, ip: string, duration?: string) =>
  decisions.create({ ip, action: 'block', ...(duration === undefined ? {} : { duration }) }, actor);
