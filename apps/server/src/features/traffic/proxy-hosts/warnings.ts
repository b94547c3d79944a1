import type { Warning } from '@sallyport/contract';
import type { StoredProxyHost } from './store.ts';

/** What a host's fields count on, as far as the hosts that are asked about need it. */
export interface Surroundings {
  switches: { guard: boolean; acl: boolean; waf: boolean };
  /** Access lists that are referred to, by id. */
  accessLists: ReadonlyMap<number, { name: string; enabled: boolean }>;
  /** Certificates that are referred to, by id. */
  certificates: ReadonlyMap<
    number,
    { name: string; expires_at: string; revoked_at: string | null; covers: (name: string) => boolean }
  >;
  /** Why hosts with `auto_certificate` have no certificate by themselves, by the id of the host. */
  autoCertificates: ReadonlyMap<number, readonly string[]>;
  /** Whether there is a certificate for a name whose host chose none. */
  hasCertificate: (name: string) => boolean;
  /** Whether the best one that there is for such a name was revoked. */
  hasRevoked: (name: string) => boolean;
  /** When a WebSocket upgrade to the host with this id was last refused, lately. */
  refusedUpgradeAt: (id: number) => string | undefined;
  now: Date;
}

const MAX_NAMED = 3;

const some = (names: readonly string[]): string =>
  names.length <= MAX_NAMED
    ? names.join(', ')
    : `${names.slice(0, MAX_NAMED).join(', ')} and ${names.length - MAX_NAMED} more`;

const accessListWarning = (id: number, { switches, accessLists }: Surroundings): string | undefined => {
  const list = accessLists.get(id);
  const name = list ? `"${list.name}"` : String(id);
  if (!switches.guard) return `access list ${name} is not enforced: the security suite is switched off`;
  if (!switches.acl) return `access list ${name} is not enforced: access lists are switched off (security.acl.enabled)`;
  return list?.enabled === false ? `access list ${name} is switched off, so it admits everybody` : undefined;
};

const firewallWarning = ({ guard, waf }: Surroundings['switches']): string | undefined => {
  if (!guard) return 'the firewall does not judge this host: the security suite is switched off';
  return waf ? undefined : 'the firewall does not judge this host: it is switched off (security.waf.enabled)';
};

const certificateWarnings = (id: number, names: readonly string[], { certificates, now }: Surroundings): string[] => {
  const certificate = certificates.get(id);
  if (!certificate) return [];
  const missing = names.filter((name) => !certificate.covers(name));
  return [
    ...(missing.length > 0 ? [`certificate "${certificate.name}" does not cover ${some(missing)}`] : []),
    ...(new Date(certificate.expires_at) <= now
      ? [`certificate "${certificate.name}" expired on ${certificate.expires_at}`]
      : []),
    ...(certificate.revoked_at !== null
      ? [`certificate "${certificate.name}" was revoked on ${certificate.revoked_at}`]
      : []),
  ];
};

/** What a stored host will not do although its fields say so, in words (contract.md, Conventions of all resources). */
export const warningsOf = (host: StoredProxyHost, around: Surroundings): Warning[] => {
  const warnings: Warning[] = [];
  const warn = (field: keyof StoredProxyHost, message: string | undefined) => {
    if (message !== undefined) warnings.push({ field, message });
  };
  const names = host.domain.split(',');
  if (host.certificate_id !== null) {
    for (const message of certificateWarnings(host.certificate_id, names, around)) warn('certificate_id', message);
  } else if (host.ssl_forced || host.hsts_enabled) {
    const missing = names.filter((name) => !around.hasCertificate(name));
    const message = `no certificate covers ${some(missing)}: browsers get the self-signed default one, and warn`;
    if (missing.length > 0) warn(host.ssl_forced ? 'ssl_forced' : 'hsts_enabled', message);
  }
  if (host.certificate_id === null) {
    const revoked = names.filter((name) => around.hasRevoked(name));
    const field = host.auto_certificate ? 'auto_certificate' : host.ssl_forced ? 'ssl_forced' : 'hsts_enabled';
    if (revoked.length > 0) warn(field, `the certificate that is served for ${some(revoked)} was revoked`);
  }
  for (const message of around.autoCertificates.get(host.id) ?? []) warn('auto_certificate', message);
  if (host.auto_certificate && host.certificate_id !== null) {
    warn('auto_certificate', 'has no effect: certificate_id names the certificate that is served');
  }
  if (host.hsts_subdomains && !host.hsts_enabled) warn('hsts_subdomains', 'has no effect without hsts_enabled');
  if (host.access_list_id !== null) warn('access_list_id', accessListWarning(host.access_list_id, around));
  if (host.waf_enabled) warn('waf_enabled', firewallWarning(around.switches));
  else if (host.waf_inspect_responses) warn('waf_inspect_responses', 'has no effect without waf_enabled');
  if (host.forward_verify_tls && host.forward_scheme === 'http') {
    warn('forward_verify_tls', 'has no effect: the origin is spoken to by http');
  }
  const refusedAt = host.websocket_support ? undefined : around.refusedUpgradeAt(host.id);
  if (refusedAt !== undefined) {
    warn('websocket_support', `a WebSocket upgrade was refused on ${refusedAt}: this host does not take them`);
  }
  return warnings;
};
