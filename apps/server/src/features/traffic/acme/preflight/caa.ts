import type { PreflightCheck } from '@sallyport/contract';
import type { CaaRecord } from '../../../../net/name-servers.ts';
import { fault, fine } from './finding.ts';

/** Who wants to issue what to whom. */
export interface CaaAsker {
  /** Names under which the authority looks for itself in CAA records (RFC 8555, section 9.7.6). */
  identities: readonly string[];
  /** What the authority calls the account; null when it is not known yet. */
  accountUrl: string | null;
  challenge: string;
}

/** `ca.example; validationmethods=dns-01` (RFC 8659, section 4.2; RFC 8657). */
const parseIssuer = (value: string): { issuer: string; parameters: Map<string, string> } => {
  const [issuer = '', ...rest] = value.split(';').map((part) => part.trim());
  const pairs = rest.filter((part) => part.includes('='));
  return {
    issuer: issuer.toLowerCase(),
    parameters: new Map(
      pairs.map((pair) => [
        pair.slice(0, pair.indexOf('=')).trim().toLowerCase(),
        pair.slice(pair.indexOf('=') + 1).trim(),
      ]),
    ),
  };
};

const KNOWN = new Set(['issue', 'issuewild', 'iodef', 'issuemail', 'issuevmc', 'contactemail', 'contactphone']);

/** What records say of who may issue, in their order; empty when they restrict nobody. */
const entriesOf = (records: readonly CaaRecord[], isWild: boolean): ReturnType<typeof parseIssuer>[] => {
  const wild = records.filter(({ tag }) => tag === 'issuewild');
  const asked = isWild && wild.length > 0 ? wild : records.filter(({ tag }) => tag === 'issue');
  return asked.map(({ value }) => parseIssuer(value));
};

/** Why records forbid an issue to any authority, in words; undefined when some may. */
const whyForbiddenToAll = (records: readonly CaaRecord[], isWild: boolean): string | undefined => {
  const unknown = records.find(({ tag, isCritical }) => isCritical && !KNOWN.has(tag));
  if (unknown) return `a critical record of the kind "${unknown.tag}" that authorities must not pass over`;
  const entries = entriesOf(records, isWild);
  return entries.length > 0 && entries.every(({ issuer }) => issuer === '') ? 'nobody may issue' : undefined;
};

/** Why records forbid an issue, in words; undefined when they permit it. `isWild`: for a name with `*.` in front. */
export const whyForbidden = (
  records: readonly CaaRecord[],
  isWild: boolean,
  { identities, accountUrl, challenge }: CaaAsker,
): string | undefined => {
  const toAll = whyForbiddenToAll(records, isWild);
  if (toAll !== undefined) return toAll;
  const entries = entriesOf(records, isWild);
  if (entries.length === 0) return undefined;
  const ours = entries.filter(({ issuer }) => identities.includes(issuer));
  if (ours.length === 0) {
    const others = [...new Set(entries.map(({ issuer }) => issuer).filter((issuer) => issuer !== ''))];
    return `only ${others.slice(0, 10).join(', ')} may issue`;
  }
  const fits = ours.some(({ parameters }) => {
    const methods = parameters.get('validationmethods')?.split(',');
    const account = parameters.get('accounturi');
    const isMethod = methods === undefined || methods.includes(challenge);
    return isMethod && (account === undefined || accountUrl === null || account === accountUrl);
  });
  return fits ? undefined : `only by another way of proof or another account than this one's (${challenge})`;
};

/** Looks whether the CAA records of a name permit the authority; `find` climbs the tree (RFC 8659, section 3). */
export const checkCaa = async (
  name: string,
  asker: CaaAsker,
  find: (name: string) => Promise<{ at: string; records: CaaRecord[] } | undefined>,
): Promise<PreflightCheck> => {
  const bare = name.replace(/^\*\./, '');
  let found: Awaited<ReturnType<typeof find>>;
  try {
    found = await find(bare);
  } catch (error) {
    return fault('caa', name, {
      message: `Whether CAA records permit the authority is not known: ${(error as Error).message}.`,
      fix: 'See that the name servers of the zone answer CAA queries: authorities do not issue while these fail.',
      isCertain: false,
    });
  }
  if (found === undefined) return fine('caa', name, 'No CAA record restricts who may issue.');
  const [identity] = asker.identities;
  if (identity === undefined) {
    const why = whyForbiddenToAll(found.records, name !== bare);
    if (why !== undefined) {
      return fault('caa', name, {
        message: `The CAA records at ${found.at} permit no authority: ${why}.`,
        fix: `Remove the record at ${found.at}, or add one that names the authority.`,
        // One of a house's own may not look at all.
        isCertain: false,
      });
    }
    return fine('caa', name, `There are CAA records at ${found.at}; the authority does not say which it looks for.`);
  }
  const why = whyForbidden(found.records, name !== bare, asker);
  if (why === undefined) return fine('caa', name, `The CAA records at ${found.at} permit ${identity}.`);
  return fault('caa', name, {
    message: `The CAA records at ${found.at} do not permit ${identity}: ${why}.`,
    fix: `Add a record: ${found.at} CAA 0 ${name === bare ? 'issue' : 'issuewild'} "${identity}"`,
    isCertain: true,
  });
};
