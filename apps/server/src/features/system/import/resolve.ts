import type { ImportCommit } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { PlannedHost } from './plan.ts';

type Strategy = NonNullable<ImportCommit['resolutions']>[string];

/** What is to become of the hosts of an upload. */
export interface Decision {
  incoming: { host: PlannedHost; replaces: boolean }[];
  skipped: number;
  failed: PlannedHost[];
}

const MOST_NAMED = 20;

/** The refusal of the spec, and what exactly is wrong. */
export const badCommit = (details: string) => refuse.invalid('Invalid session or unresolved conflicts', { details });

const listOf = (names: readonly string[]): string =>
  names.length <= MOST_NAMED
    ? names.join(', ')
    : `${names.slice(0, MOST_NAMED).join(', ')} and ${names.length - MOST_NAMED} more`;

const isLeaving = (strategy: Strategy | undefined): boolean => strategy === 'keep' || strategy === 'skip';

const key = (text: string): string => text.toLowerCase().replaceAll(/\s/g, '');

/**
 * Decides what is imported. A resolution is for a name, or for all of a host, by its domain. Throws a 400 that names conflicts without
 * one, resolutions of a host that contradict each other, and what no host of the upload is called.
 */
export const decide = (
  plan: readonly PlannedHost[],
  resolutions: NonNullable<ImportCommit['resolutions']>,
): Decision => {
  const given = new Map<string, Strategy>(Object.entries(resolutions).map(([name, strategy]) => [key(name), strategy]));
  const meant = new Set<string>();
  const strategyOf = (name: string, domain: string): Strategy | undefined => given.get(name) ?? given.get(domain);
  const decision: Decision = { incoming: [], skipped: 0, failed: [] };
  const unresolved: string[] = [];
  const contradicting: string[] = [];
  for (const host of plan) {
    const domain = key(host.imported.domain);
    for (const name of [domain, host.names.join(','), ...domain.split(','), ...host.names]) meant.add(name);
    const asked = host.conflicts.length > 0 ? host.conflicts : host.names;
    const strategies = asked.map((name) => strategyOf(name, domain) ?? given.get(host.names.join(',')));
    if (host.issue !== null) {
      const isLeftOut = [domain, ...domain.split(',')].some(
        (name) => given.has(name) && given.get(name) !== 'overwrite',
      );
      if (isLeftOut) decision.skipped += 1;
      else decision.failed.push(host);
      continue;
    }
    if (host.conflicts.length > 0) {
      unresolved.push(...asked.filter((_, index) => strategies[index] === undefined));
      const replacing = strategies.filter((strategy) => strategy === 'overwrite').length;
      if (replacing === 0) decision.skipped += 1;
      // Of a name that is free nothing has to be said, but what is said counts.
      else if (replacing === strategies.length && !host.names.some((name) => isLeaving(given.get(name)))) {
        decision.incoming.push({ host, replaces: true });
      } else contradicting.push(host.imported.domain);
    } else if (strategies.some(isLeaving)) decision.skipped += 1;
    else decision.incoming.push({ host, replaces: false });
  }
  if (unresolved.length > 0) throw badCommit(`conflicts without a resolution: ${listOf(unresolved)}`);
  if (contradicting.length > 0) {
    throw badCommit(`resolutions of one host that contradict each other: ${listOf(contradicting)}`);
  }
  const strangers = [...given.keys()].filter((name) => !meant.has(name));
  if (strangers.length > 0) throw badCommit(`resolutions of what is not in the upload: ${listOf(strangers)}`);
  return decision;
};
