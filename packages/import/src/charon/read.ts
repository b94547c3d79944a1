import { aboutAutomatic } from '../certificates/automatic.ts';
import { number, placeOf, text } from '../database/cells.ts';
import { createCertificates } from '../database/certificates.ts';
import type { UploadedDatabase } from '../database/open.ts';
import { warn } from '../loss.ts';
import type { ImportWarning, Reading } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { usedOf } from '../unique-names.ts';
import { listsOf } from './access.ts';
import { hostsOf } from './hosts.ts';

const LIST_COLUMNS = [
  ...['id', 'name', 'description', 'type', 'ip_rules', 'country_codes', 'local_network_only', 'enabled'],
];

/** Whether it is a database of Charon. */
export const isCharon = (database: UploadedDatabase): boolean =>
  database.has('proxy_hosts', 'id', 'uuid', 'domain_names', 'forward_host', 'forward_port');

const certificatesOf = (database: UploadedDatabase) => {
  const rows = database.rows('ssl_certificates', ['id', 'name', 'certificate', 'private_key']);
  const byId = new Map(rows.map((row) => [number(row, 'id'), row]));
  return createCertificates((id) => {
    const row = byId.get(id);
    if (!row) return undefined;
    const [certificate, key] = [text(row, 'certificate'), text(row, 'private_key')];
    // Those that Caddy keeps are in the database without their key.
    const pair = certificate === '' || key === '' ? undefined : { certificate, key };
    return {
      name: text(row, 'name') || `Certificate ${id}`,
      pair,
      advice: 'upload it, or let one be issued',
      isAutomatic: pair === undefined,
    };
  });
};

const aboutServers = (database: UploadedDatabase, file: string): ImportWarning[] =>
  database.rows('remote_servers', ['id', 'name', 'host', 'port']).map((row) => {
    const what = `${text(row, 'name')} (${text(row, 'host')}:${text(row, 'port')})`;
    return warn(placeOf(file, 'remote_servers', row), `the remote server ${shorten(what)} is not imported`);
  });

/** Addresses that Charon keeps from all hosts. */
const aboutDecisions = (database: UploadedDatabase, file: string): ImportWarning[] => {
  const blocked = database
    .rows('security_decisions', ['id', 'action', 'ip'])
    .filter((row) => text(row, 'action') === 'block');
  const [first] = blocked;
  if (!first) return [];
  const message = `${blocked.length} decisions that block addresses, such as ${shorten(text(first, 'ip'))}, are not imported`;
  return [warn(placeOf(file, 'security_decisions', first), message)];
};

/** Reads a database of Charon. Throws a `DatabaseError`. */
export const readCharon = (database: UploadedDatabase, file: string): Omit<Reading, 'errors' | 'staticFiles'> => {
  const { of: guardOf, lists } = listsOf(database.rows('access_lists', LIST_COLUMNS), file);
  const certificates = certificatesOf(database);
  const locations = database.rows('locations', ['id', 'proxy_host_id', 'path', 'forward_host', 'forward_port']);
  const around = {
    guardOf,
    certificateOf: certificates.of,
    locations: Map.groupBy(locations, (row) => number(row, 'proxy_host_id')),
  };
  const warnings: ImportWarning[] = [];
  const hosts = database
    .rows('proxy_hosts', database.columns('proxy_hosts'))
    .flatMap((row) => hostsOf(row, file, around, warnings));
  return {
    source: 'charon',
    hosts,
    accessLists: usedOf(lists, hosts),
    certificates: certificates.taken(),
    warnings: [
      ...warnings,
      ...aboutAutomatic('Charon', hosts),
      ...aboutDecisions(database, file),
      ...aboutServers(database, file),
    ],
  };
};
