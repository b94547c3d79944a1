import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DesiredCertificate, DesiredHost, HostChange } from '@sallyport/haproxy';
import type { CertificateSource, HostRoute, RouteSource } from './source.ts';

/** A certificate for HAProxy, and which version of it that is. */
export type OpenedCertificate = DesiredCertificate & Pick<CertificateSource, 'version'>;

export interface CollectDeps {
  source: RouteSource;
  desired: (route: HostRoute) => { host: DesiredHost; issue: string | undefined };
  /** Undefined when it can't be opened. */
  openCertificate: (certificate: CertificateSource) => OpenedCertificate | undefined;
  /** Ids of what changed since the collecting began: of these it may hold what was before. */
  changed: () => { readonly hosts: ReadonlySet<number>; readonly certificates: ReadonlySet<number> };
}

/** All stored certificates that can be opened. */
export const collectCertificates = async ({
  source,
  openCertificate,
}: Pick<CollectDeps, 'source' | 'openCertificate'>): Promise<OpenedCertificate[]> => {
  const certificates: OpenedCertificate[] = [];
  for (const stored of await source.allCertificates()) {
    const certificate = openCertificate(stored);
    if (certificate) certificates.push(certificate);
  }
  return certificates;
};

/** Everything the proxy should serve now; looks up no name, so that it does not wait for DNS. */
export const collectEverything = async (deps: CollectDeps) => {
  const { source, desired, changed } = deps;
  const hosts = new Map<number, DesiredHost>();
  /** Why hosts lead nowhere. */
  const issues = new Map<number, string>();
  const take = (route: HostRoute) => {
    const { host, issue } = desired(route);
    hosts.set(host.id, host);
    if (issue === undefined) issues.delete(host.id);
    else issues.set(host.id, issue);
  };
  for await (const portion of source.allHosts()) {
    for (const route of portion) take(route);
    // A store in this process answers at once: nobody else would get a turn until all is read.
    await yieldToOthers();
  }
  const collected = {
    hosts,
    issues,
    certificates: await collectCertificates(deps),
    /**
     * What changed meanwhile, as the store has it now. Run while no change is under way: any that was acknowledged is
     * in it, and none that comes after is undone by it.
     */
    async latest() {
      const ids = [...changed().hosts];
      for (const id of ids) {
        hosts.delete(id);
        issues.delete(id);
      }
      for (const route of await source.hostsById(ids)) take(route);
      const changes = ids.map((id): HostChange => {
        const host = hosts.get(id);
        return host ? { type: 'put', host } : { type: 'remove', id };
      });
      if (changed().certificates.size > 0) collected.certificates = await collectCertificates(deps);
      return { hosts: changes, certificates: collected.certificates };
    },
  };
  return collected;
};
