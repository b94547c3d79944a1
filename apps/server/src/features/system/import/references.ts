import type { Reading } from '@sallyport/import';
import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import type { Refusal } from '@sallyport/store/errors';
import type { HostIntake } from '../../host-intake.ts';
import type { PlannedHost } from './plan.ts';
import type { Decision } from './resolve.ts';

/** A host that was to come in, and why it did not. */
export interface Failure {
  imported: PlannedHost['imported'];
  message: string;
}

/** The id that is meant by a name; null for no name, an error that says what stands in the way. */
const idOf = (
  what: string,
  name: string | undefined,
  ids: ReadonlyMap<string, number | Refusal>,
): number | null | Error => {
  if (name === undefined) return null;
  const id = ids.get(name);
  return typeof id === 'number' ? id : new Error(`its ${what} ${name}: ${id?.message ?? 'is missing'}`);
};

/**
 * Makes the function that stores what hosts that come in refer to, access lists and certificates, in a transaction of the caller. A host
 * whose list or certificate can not be stored must not come in without it, and is left.
 */
export const createBringInReferences =
  (intake: Pick<HostIntake, 'bringInLists' | 'bringInCertificates'>) =>
  async (
    tx: Executor,
    hosts: Decision['incoming'],
    { accessLists = [], certificates = [] }: Reading,
    actor: Actor,
  ): Promise<{ incoming: Decision['incoming']; left: Failure[]; certificates: number[] }> => {
    const wanted = <T extends { name: string }>(
      all: readonly T[],
      nameOf: (host: PlannedHost) => string | undefined,
    ) => {
      const names = new Set(hosts.map(({ host }) => nameOf(host)));
      return all.filter(({ name }) => names.has(name));
    };
    const lists = await intake.bringInLists(
      tx,
      wanted(accessLists, ({ imported }) => imported.access_list),
      actor,
    );
    const stored = await intake.bringInCertificates(
      tx,
      wanted(certificates, ({ imported }) => imported.certificate),
      actor,
    );
    const incoming: Decision['incoming'] = [];
    const left: Failure[] = [];
    for (const { host, replaces } of hosts) {
      const { imported } = host;
      const access_list_id = idOf('access list', imported.access_list, lists);
      const certificate_id = idOf('certificate', imported.certificate, stored);
      const problem = [access_list_id, certificate_id].find((id) => id instanceof Error);
      if (problem) {
        left.push({ imported, message: problem.message });
        continue;
      }
      // A host that has its own by itself names none: this one serves its names until then.
      const named = imported.auto_certificate === true ? null : certificate_id;
      const references = Object.fromEntries(
        Object.entries({ access_list_id, certificate_id: named }).filter(([, id]) => id !== null),
      );
      incoming.push({ host: { ...host, input: { ...host.input, ...references } }, replaces });
    }
    return { incoming, left, certificates: [...stored.values()].filter((id) => typeof id === 'number') };
  };
