import type { Served } from '../certificates/pair.ts';
import { flag, isEnabled, list, lossesOfUnknown, number, placeOf, reference, text } from '../database/cells.ts';
import type { Row } from '../database/open.ts';
import { nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import type { Guard } from './access.ts';
import { type Upstream, writtenBy } from './snippet.ts';

const HOST_COLUMNS = [
  ...['id', 'is_deleted', 'enabled', 'domain_names', 'forward_scheme', 'forward_host', 'forward_ip', 'forward_port'],
  ...['access_list_id', 'certificate_id', 'ssl_forced', 'hsts_enabled', 'hsts_subdomains', 'http2_support'],
  ...['block_exploits', 'allow_websocket_upgrade', 'caching_enabled', 'advanced_config', 'locations'],
];

/** Columns that say nothing of who may come in. */
const KNOWN = new Set([...HOST_COLUMNS, 'created_on', 'meta', 'modified_on', 'owner_user_id', 'trust_forwarded_proto']);

/** What else of a database a host refers to. */
export interface Surroundings {
  guardOf: (id: number, host: Place) => Guard;
  certificateOf: (id: number, host: Place) => Served;
}

/** The names of a row; undefined when they are no list of texts. */
export const namesOf = (row: Row): string[] | undefined => {
  const names = list(row, 'domain_names');
  return names?.every((name) => typeof name === 'string') ? (names as string[]) : undefined;
};

const lossesOf = (row: Row, place: Place): Loss[] => {
  const losses: Loss[] = [];
  if (number(row, 'certificate_id') === 0)
    losses.push(loss(place, 'it has no certificate: here it is reached with TLS, too'));
  if (flag(row, 'caching_enabled')) losses.push(loss(place, 'answers are not kept'));
  return losses;
};

const upstreamOf = (row: Row): Upstream | undefined => {
  const scheme = text(row, 'forward_scheme') || 'http';
  if (scheme !== 'http' && scheme !== 'https') return undefined;
  const host = text(row, 'forward_host') || text(row, 'forward_ip');
  return { forward_scheme: scheme, forward_host: host, forward_port: number(row, 'forward_port') };
};

/** A proxy host of Nginx Proxy Manager as one of ours. What can't be one is in `warnings`. */
export const hostsOf = (row: Row, file: string, around: Surroundings, warnings: ImportWarning[]): ImportedHost[] => {
  const place = placeOf(file, 'proxy_host', row);
  if (flag(row, 'is_deleted')) return [];
  const given = namesOf(row);
  if (given === undefined) {
    warnings.push(warn(place, 'a proxy host is not imported: its names are no list'));
    return [];
  }
  const names = [...new Set(given.flatMap((name) => nameOrWarning(name, place, warnings) ?? []))];
  if (names.length === 0) return [];
  const own = upstreamOf(row);
  if (own === undefined) {
    const message = `${shorten(names.join(', '))} is not imported: ${shorten(text(row, 'forward_scheme'))} is neither http nor https`;
    warnings.push(warn(place, message));
    return [];
  }
  const { list: accessList, losses: ofAccess } = around.guardOf(reference(row, 'access_list_id'), place);
  const {
    certificate,
    isAutomatic,
    losses: ofCertificate,
  } = around.certificateOf(reference(row, 'certificate_id'), place);
  const written = writtenBy(row, own, place);
  const hasTls = number(row, 'certificate_id') > 0;
  const isForced = hasTls && flag(row, 'ssl_forced');
  const hsts = isForced && flag(row, 'hsts_enabled');
  const hosts = toHosts(
    {
      place,
      names,
      fields: {
        ...own,
        ...written.upstream,
        ssl_forced: isForced,
        hsts_enabled: hsts,
        hsts_subdomains: hsts && flag(row, 'hsts_subdomains'),
        ...(hasTls && { http2_support: flag(row, 'http2_support') }),
        block_exploits: flag(row, 'block_exploits'),
        websocket_support: flag(row, 'allow_websocket_upgrade'),
        ...(accessList && { access_list: accessList.name }),
        ...(certificate !== undefined && { certificate }),
        ...(isAutomatic && { auto_certificate: true }),
      },
      losses: [
        ...ofAccess,
        ...written.losses,
        ...ofCertificate,
        ...lossesOf(row, place),
        ...lossesOfUnknown(row, KNOWN, place),
      ],
    },
    warnings,
  );
  return isEnabled(row) ? hosts : hosts.map((host) => ({ ...host, enabled: false }));
};
