import { certificateNameProblem } from '@sallyport/acme';
import { type CertificateNames, createBestMatch, isCovered } from '../../../certificates/usage.ts';
import { isInternalName } from '../../../internal-ca/internal-names.ts';

/** A host with `auto_certificate` that names no certificate. */
export interface AutoHost {
  id: number;
  names: readonly string[];
}

/** A certificate that is there, or stood in for. */
export interface KnownCertificate extends CertificateNames {
  isPlaceholder: boolean;
}

/** How one of them is kept. */
export interface KnownOrder {
  certificateId: number;
  issuer: string;
  names: readonly string[];
  isAuto: boolean;
  /** Null: it is not by itself. */
  nextAttemptAt: string | null;
}

/** A certificate that a host lacks. */
export interface Wanted {
  hostId: number;
  names: string[];
  issuer: 'acme' | 'internal';
  challenge: 'http-01' | 'dns-01';
}

export interface AutoPlan {
  create: Wanted[];
  /** Certificates that have to be ordered anew, for these names. */
  change: { certificateId: number; names: string[]; challenge: 'http-01' | 'dns-01' }[];
  /** Certificates that were not kept any more, and are needed again. */
  wake: number[];
}

export interface PlanInput {
  hosts: readonly AutoHost[];
  certificates: readonly KnownCertificate[];
  orders: readonly KnownOrder[];
  /** Wildcards can be proven. */
  hasDnsProvider: boolean;
  now: Date;
}

/** Why a name gets no certificate by itself; undefined for one that does. */
export const cannotHave = (name: string, hasDnsProvider: boolean): string | undefined => {
  if (isInternalName(name)) return undefined;
  const problem = certificateNameProblem(name);
  if (problem !== undefined) return `${name} ${problem}`;
  if (!name.startsWith('*.') || hasDnsProvider) return undefined;
  return `${name} is a wildcard: it takes a DNS provider that the setting acme.dns_provider names (POST /api/v1/dns-providers)`;
};

/** Without those that a wildcard among them takes in: authorities refuse both together. */
const withoutCovered = (names: readonly string[]): string[] =>
  names.filter(
    (name) =>
      !isCovered(
        names.filter((other) => other !== name && other.startsWith('*.')),
        name,
      ),
  );

/**
 * One that nobody renews, as it was uploaded, is no longer counted on when it has so long to go: there is time for what may fail,
 * and it is served meanwhile.
 */
const SOON_MS = 14 * 86_400_000;

/** Looks what hosts lack that is neither there nor being had. */
export const planAuto = ({ hosts, certificates, orders, hasDnsProvider, now }: PlanInput): AutoPlan => {
  const orderOf = new Map(orders.map((order) => [order.certificateId, order]));
  const isKept = (id: number) => orderOf.get(id)?.nextAttemptAt != null;
  const soon = new Date(now.getTime() + SOON_MS);
  const there = createBestMatch(
    certificates.filter(
      ({ id, isPlaceholder, expires_at }) => !isPlaceholder && (new Date(expires_at) > soon || isKept(id)),
    ),
  );
  const beingHad = new Set(orders.filter(({ nextAttemptAt }) => nextAttemptAt !== null).flatMap(({ names }) => names));
  const autoByName = new Map<string, KnownOrder>();
  for (const order of orders) if (order.isAuto) for (const name of order.names) autoByName.set(name, order);
  const hostOf = new Map(hosts.flatMap(({ id, names }) => names.map((name) => [name, id] as const)));
  const plan: AutoPlan = { create: [], change: [], wake: [] };
  const woken = new Set<number>();

  const isHad = (name: string): boolean => {
    const best = there(name);
    if (best) {
      const order = orderOf.get(best.id);
      if (order?.isAuto && order.nextAttemptAt === null) woken.add(best.id);
      return true;
    }
    return beingHad.has(name) || (!name.startsWith('*.') && beingHad.has(`*${name.slice(name.indexOf('.'))}`));
  };

  const want = (host: AutoHost, lacking: readonly string[], issuer: 'acme' | 'internal'): void => {
    if (lacking.length === 0) return;
    const isOwn = (order: KnownOrder) =>
      // One with names of another host would be lost to that: names move from host to host.
      order.issuer === issuer && order.names.every((name) => (hostOf.get(name) ?? host.id) === host.id);
    const own = host.names.flatMap((name) => autoByName.get(name) ?? []).find(isOwn);
    const kept = own ? own.names.filter((name) => host.names.includes(name)) : [];
    const names = withoutCovered([...new Set([...kept, ...lacking])]);
    const challenge = names.some((name) => name.startsWith('*.')) ? 'dns-01' : 'http-01';
    if (own) plan.change.push({ certificateId: own.certificateId, names, challenge });
    else plan.create.push({ hostId: host.id, names, issuer, challenge });
  };

  for (const host of hosts) {
    const lacking = host.names.filter((name) => cannotHave(name, hasDnsProvider) === undefined && !isHad(name));
    want(host, lacking.filter(isInternalName), 'internal');
    want(
      host,
      lacking.filter((name) => !isInternalName(name)),
      'acme',
    );
  }
  const changed = new Set(plan.change.map(({ certificateId }) => certificateId));
  plan.wake = [...woken].filter((id) => !changed.has(id));
  return plan;
};
