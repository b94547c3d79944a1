import { type ImportDifference, type ImportVerification, type ImportVerify, MOST_VERIFIED } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, TransactAside } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { askSite, getSite, type ProxyDoor } from '../../../../net/ask-site.ts';
import { SafeFetchError } from '../../../../net/safe-fetch.ts';
import type { HostIntake, PresentHost } from '../../../host-intake.ts';
import { namesOf } from '../outcome.ts';
import type { ImportStore } from '../store.ts';
import { compareSides, haveOtherBodies } from './compare.ts';
import { parseOldAddress } from './old-address.ts';
import { findOldDoors, type OldDoors, type OldDoorsDeps } from './old-doors.ts';
import { type Side, toSide } from './side.ts';

export interface VerifyDeps extends OldDoorsDeps {
  db: Executor;
  transactAside: TransactAside;
  store: (executor: Executor) => ImportStore;
  intake: Pick<HostIntake, 'ownersByName'>;
  /** Where Sallyport's own proxy takes requests. */
  newDoors: { http: ProxyDoor; https: ProxyDoor };
  record: RecordChange;
}

const AT_ONCE = 8;
const IN_ALL_MS = 60_000;
/** What stands for a wildcard: a label that hardly anybody has a host for. */
const ANY_LABEL = 'sallyport-check';
const SCHEMES = ['http', 'https'] as const;

type VerifiedHost = ImportVerification['hosts'][number];
interface Doors {
  before: OldDoors;
  now: VerifyDeps['newDoors'];
}

const askedAs = (name: string): string => name.replace(/^\*\./, `${ANY_LABEL}.`);

const sideOf = async (
  door: ProxyDoor,
  ports: readonly number[],
  scheme: 'http' | 'https',
  name: string,
  signal: AbortSignal,
): Promise<Side> => {
  try {
    return toSide(await askSite(door, name, signal), { scheme, name, ports });
  } catch (error) {
    if (error instanceof SafeFetchError) return { silent: error.message };
    throw error;
  }
};

const portsOf = ({ http, https }: OldDoors): number[] => [http?.port, https?.port].filter((port) => port !== undefined);

/** Whether the old proxy gives the same content twice: what is made anew each time is no difference. */
const isSteady = async (door: ProxyDoor, name: string, before: Side, signal: AbortSignal): Promise<boolean> => {
  try {
    const get = await getSite(door, name, signal);
    const again = toSide({ head: get, get, greeting: undefined }, { scheme: 'http', name, ports: [] });
    return !('silent' in before) && again.digest === before.digest;
  } catch {
    return false;
  }
};

const OTHER_BODY = 'the content of / is another one: compare the origin, and what the old proxy made of its answers';

const verifyHost = async (
  name: string,
  { before: old, now: own }: Doors,
  host: PresentHost | undefined,
  signal: AbortSignal,
): Promise<VerifiedHost> => {
  const asked = askedAs(name);
  const differences: ImportDifference[] = [];
  const silences: string[] = [];
  for (const scheme of SCHEMES) {
    const door = old[scheme];
    if (!door) continue;
    const [before, now] = await Promise.all([
      sideOf(door, portsOf(old), scheme, asked, signal),
      sideOf(own[scheme], portsOf(own), scheme, asked, signal),
    ]);
    if ('silent' in before) silences.push(`${scheme}: ${before.silent}`);
    differences.push(...compareSides({ scheme, name: asked, before, now, host }));
    if (haveOtherBodies(before, now) && (await isSteady(door, asked, before, signal))) {
      differences.push({ scheme, field: 'body', before: '', now: '', message: OTHER_BODY });
    }
  }
  if (silences.length === SCHEMES.filter((scheme) => old[scheme]).length) {
    const message = `the old proxy does not answer for it (${silences.join('; ')}): there is nothing to compare with`;
    differences.push({ scheme: old.https ? 'https' : 'http', field: 'reach', before: '', now: '', message });
  }
  return { name, asked_as: asked, differences };
};

/** Names that are asked for, of those that the session imported. Throws a 400 for another one. */
const chosen = (names: readonly string[], hosts: readonly string[] | undefined): string[] => {
  if (hosts === undefined) return [...names];
  const known = new Set(names);
  const asked = hosts.map((host) => host.trim().toLowerCase());
  const stranger = asked.findIndex((host) => !known.has(host));
  if (stranger !== -1) throw refuse.invalid(`hosts[${stranger}] is not a name that this session imported`);
  return [...new Set(asked)];
};

/** Makes the proof after an import: the old and the new proxy are asked for each name, side by side. */
export const createVerifier = (deps: VerifyDeps) => {
  const { db, transactAside, store, intake, newDoors, record } = deps;
  let isRunning = false;

  const run = async (names: readonly string[], doors: Doors): Promise<{ done: VerifiedHost[]; left: string[] }> => {
    const owners = await intake.ownersByName(db, names);
    const deadline = AbortSignal.timeout(IN_ALL_MS);
    const done = new Map<string, VerifiedHost>();
    const waiting = [...names];
    const work = async (): Promise<void> => {
      for (let name = waiting.shift(); name !== undefined && !deadline.aborted; name = waiting.shift()) {
        const verified = await verifyHost(name, doors, owners.get(name), deadline);
        // What the deadline cut short says nothing of the proxies.
        if (!deadline.aborted) done.set(name, verified);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return {
      done: names.map((name) => done.get(name)).filter((host) => host !== undefined),
      left: names.filter((name) => !done.has(name)),
    };
  };

  const verify = async (
    uuid: string,
    { old_address, old_http_port, old_https_port, hosts }: ImportVerify,
    actor: Actor,
  ): Promise<ImportVerification> => {
    const session = await store(db).find(uuid);
    if (!session) throw refuse.notFound('Import session not found');
    if (session.state !== 'committed') {
      throw refuse.conflict(`Import session ${uuid} is ${session.state}, not committed`, {
        details: 'the old and the new proxy can be compared once the hosts are imported',
      });
    }
    const names = chosen(namesOf(session.outcome), hosts);
    const parsed = parseOldAddress(old_address);
    if (!parsed) throw refuse.invalid('old_address must be host, host:port, http://host:port or https://host:port');
    const { host } = parsed;
    const ports = { http: old_http_port ?? parsed.http, https: old_https_port ?? parsed.https };
    const before = await findOldDoors({ host, ...ports }, deps);
    const after = { old_address, names: Math.min(names.length, MOST_VERIFIED) };
    await transactAside((tx) =>
      record(tx, { action: 'import.verify', actor, resource: `import/sessions/${uuid}`, after }),
    );
    const { done, left } = await run(names.slice(0, MOST_VERIFIED), { before, now: newDoors });
    const different = done.filter(({ differences }) => differences.length > 0);
    return {
      session: uuid,
      schemes: SCHEMES.filter((scheme) => before[scheme]),
      asked: done.length,
      same: done.length - different.length,
      hosts: different,
      not_asked: [...left, ...names.slice(MOST_VERIFIED)],
    };
  };

  /**
   * Asks both proxies for the names of a committed session. Throws a 404 for an unknown session, a 409 for one that is not committed
   * or while another comparison runs, a 400 or 403 for an address that can't be asked.
   */
  return async (request: ImportVerify, actor: Actor): Promise<ImportVerification> => {
    if (isRunning) throw refuse.conflict('Another comparison is running; it ends within a minute or two');
    isRunning = true;
    try {
      return await verify(request.session.toLowerCase(), request, actor);
    } finally {
      isRunning = false;
    }
  };
};
export type VerifyImport = ReturnType<typeof createVerifier>;
