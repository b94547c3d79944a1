import type { Served } from '../certificates/pair.ts';
import { flag, isEnabled, lossesOfUnknown, number, placeOf, reference, text } from '../database/cells.ts';
import type { Row } from '../database/open.ts';
import { nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedHost, ImportWarning, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import type { listsOf } from './access.ts';

const HOST_COLUMNS = [
  ...['id', 'name', 'deleted_at', 'enabled', 'domain_names', 'forward_scheme', 'forward_host', 'forward_port'],
  ...['access_list_id', 'certificate_id', 'forward_auth_enabled', 'security_header_profile_id'],
  ...['ssl_forced', 'hsts_enabled', 'hsts_subdomains', 'http2_support', 'block_exploits', 'websocket_support'],
  ...['enable_standard_headers', 'waf_disabled', 'advanced_config'],
];

/** Columns that say nothing of who may come in. */
const KNOWN = new Set([
  ...HOST_COLUMNS,
  ...['uuid', 'application', 'advanced_config_backup', 'created_at', 'updated_at'],
]);

/** What else of a database a host refers to. */
export interface Surroundings {
  guardOf: ReturnType<typeof listsOf>['of'];
  certificateOf: (id: number, host: Place) => Served;
  /** Paths that go elsewhere, by the id of the host. */
  locations: ReadonlyMap<number, readonly Row[]>;
}

const lossesOf = (row: Row, place: Place, { locations }: Surroundings): Loss[] => {
  const losses: Loss[] = [];
  if (flag(row, 'forward_auth_enabled')) {
    losses.push(loss(place, 'another server is asked who may come in, which is not taken over', true));
  }
  if (!['', '{}', '[]', 'null'].includes(text(row, 'advanced_config').trim())) {
    const message = 'its advanced configuration is of Caddy and not taken over: it may have kept requests out';
    losses.push(loss(place, message, true));
  }
  for (const location of locations.get(number(row, 'id')) ?? []) {
    const to = `${text(location, 'forward_host')}:${text(location, 'forward_port')}`;
    const message = `requests for ${shorten(text(location, 'path'))} go to ${shorten(to)} there; a proxy host sends all to one upstream`;
    losses.push(loss(place, message));
  }
  if (number(row, 'security_header_profile_id') > 0)
    losses.push(loss(place, 'its profile of security headers is not taken over: headers of answers are not changed'));
  return losses;
};

/** A proxy host of Charon as one of ours. What can't be one is in `warnings`. */
export const hostsOf = (row: Row, file: string, around: Surroundings, warnings: ImportWarning[]): ImportedHost[] => {
  const place = placeOf(file, 'proxy_hosts', row);
  if (text(row, 'deleted_at') !== '') return [];
  const given = text(row, 'domain_names').split(',');
  const named = given.map((name) => name.trim()).filter((name) => name !== '');
  const names = [...new Set(named.flatMap((name) => nameOrWarning(name, place, warnings) ?? []))];
  if (names.length === 0) {
    if (named.length === 0) warnings.push(warn(place, 'a proxy host is not imported: it has no name'));
    return [];
  }
  const scheme = text(row, 'forward_scheme') || 'http';
  if (scheme !== 'http' && scheme !== 'https') {
    const message = `${shorten(names.join(', '))} is not imported: ${shorten(scheme)} is neither http nor https`;
    warnings.push(warn(place, message));
    return [];
  }
  const { list, losses } = around.guardOf(reference(row, 'access_list_id'), place);
  const {
    certificate,
    isAutomatic,
    losses: ofCertificate,
  } = around.certificateOf(reference(row, 'certificate_id'), place);
  const hosts = toHosts(
    {
      place,
      names,
      fields: {
        name: shorten(text(row, 'name'), 255),
        forward_scheme: scheme,
        forward_host: text(row, 'forward_host'),
        forward_port: number(row, 'forward_port'),
        ssl_forced: flag(row, 'ssl_forced'),
        http2_support: flag(row, 'http2_support', true),
        hsts_enabled: flag(row, 'hsts_enabled'),
        hsts_subdomains: flag(row, 'hsts_subdomains'),
        block_exploits: flag(row, 'block_exploits', true),
        websocket_support: flag(row, 'websocket_support'),
        // The specification: a host from before the option existed has it off.
        enable_standard_headers: flag(row, 'enable_standard_headers'),
        waf_enabled: !flag(row, 'waf_disabled'),
        ...(list && { access_list: list.name }),
        ...(certificate !== undefined && { certificate }),
        // Its Caddy has them by itself; who forces TLS there wants them here.
        ...((isAutomatic || (certificate === undefined && flag(row, 'ssl_forced'))) && { auto_certificate: true }),
      },
      losses: [...losses, ...ofCertificate, ...lossesOf(row, place, around), ...lossesOfUnknown(row, KNOWN, place)],
    },
    warnings,
  );
  return isEnabled(row) ? hosts : hosts.map((host) => ({ ...host, enabled: false }));
};
