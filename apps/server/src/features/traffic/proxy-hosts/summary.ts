import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { ProxyHost, ProxyHostsSummary } from '@sallyport/contract';

const NAMED = 20;

const hasCertificate = ({ certificate_id, auto_certificate }: ProxyHost): boolean =>
  certificate_id !== null || auto_certificate;

/** Where a host is seen by its visitors; undefined for wildcards, which have no page of their own. */
const pageOf = (host: ProxyHost): string | undefined => {
  const name = host.domain.split(',').find((one) => !one.includes('*'));
  return name && `${hasCertificate(host) || host.ssl_forced ? 'https' : 'http'}://${name}/`;
};

/** How hosts stand as a whole. They come in portions, between which others get their turn. */
export const summarise = async (portions: AsyncIterable<readonly ProxyHost[]>): Promise<ProxyHostsSummary> => {
  const counts = { total: 0, enabled: 0, served: 0, with_certificate: 0, with_issue: 0, with_warnings: 0 };
  let first_page: string | null = null;
  const failing: ProxyHost[] = [];
  const warned: ProxyHost[] = [];
  for await (const hosts of portions) {
    for (const host of hosts) {
      counts.total += 1;
      if (host.enabled) counts.enabled += 1;
      if (hasCertificate(host)) counts.with_certificate += 1;
      if (host.enabled && host.applied) {
        counts.served += 1;
        first_page ??= pageOf(host) ?? null;
      }
      if (host.issue !== null) {
        counts.with_issue += 1;
        if (failing.length < NAMED) failing.push(host);
      } else if (host.warnings.length > 0) {
        counts.with_warnings += 1;
        if (warned.length < NAMED) warned.push(host);
      }
    }
    await yieldToOthers();
  }
  const attention = [...failing, ...warned]
    .slice(0, NAMED)
    .map(({ uuid, domain, name, issue, warnings }) => ({ uuid, domain, name, issue, warnings }));
  return { ...counts, first_page, attention };
};
