import type { GuardConfig } from '@sallyport/contract';
import type { GuardSwitches, RateLimit } from '@sallyport/enforcement/entries';
import type { Applied } from '@sallyport/enforcement/live-map';

/** A banned network; there is one entry a network, however many decisions name it. */
export interface BanEntry {
  /** Canonical address or CIDR range (`10.0.0.0/8`, `2001:db8::1`). Unique among all entries. */
  network: string;
  /** `<source>/<uuid>` of the decision that lasts longest, to tell in logs what banned a client: 70 characters of [\w/-] at most. */
  reference: string;
}

export type BanChange =
  /** These are all the bans there are: at start, after a switch was turned, after an import. May be 100,000 and more. */
  | { type: 'replace'; entries: readonly BanEntry[] }
  /** Some were added or changed, others ended. `remove` holds networks; one that is not there is no error. */
  | { type: 'update'; put: readonly BanEntry[]; remove: readonly string[] };

/**
 * Where the security suite is enforced: HAProxy and the guards of this node. What the suite asks of the data plane.
 *
 * Every method resolves when the change is enforced for requests from then on, or when it is known why it can't be
 * (HAProxy is not running, a guard does not answer). None rejects for that; a rejection is a bug and is logged.
 * The caller never has two calls in flight, but for `applyGuardConfig`, which may take as long as others come and go.
 * It repeats everything after `lost` of the data plane was reported, at
 * start, and when a call answered `applied: false`, so an implementation keeps no queue. It must, however, write what
 * HAProxy reads at its next start before it answers: bans survive a restart of HAProxy while the server is down.
 *
 * Limits: a single ban within 20 ms; 100,000 bans in 2 s; anything else within one second.
 */
export interface EnforcementPlane {
  applyDecisions(change: BanChange): Promise<Applied>;
  /** Answers 503 to everybody but administrators until `release`, whatever is applied meanwhile. */
  hold(): Promise<Applied>;
  /** Lets everybody through again who is not banned, by what was applied last. */
  release(): Promise<Applied>;
  /** Canonical networks whose clients nothing stops; looked up before everything else. */
  applyWhitelist(networks: readonly string[]): Promise<Applied>;
  /** null: nobody is limited. A new window may need a (hitless) reload; counters survive it. */
  applyRateLimit(limit: RateLimit | null): Promise<Applied>;
  /** Whether there is a line for every request on `<dataDir>/run/traffic.sock`; takes a (hitless) reload. */
  applyTraffic(isWanted: boolean): Promise<Applied>;
  applySwitches(switches: GuardSwitches): Promise<Applied>;
  /**
   * Hands the guards a new configuration: written to `<dataDir>/guard/config.json`, then every worker is told to swap
   * and reports the revision it serves. Resolves applied when every running worker serves `config.revision`.
   */
  applyGuardConfig(config: GuardConfig): Promise<Applied>;
  /** How many guards there are, and which of them HAProxy finds unfit to judge at the moment; undefined while it does not answer. */
  judges(): Promise<{ total: number; away: readonly string[] } | undefined>;
}
