import { aboutAutomatic } from '../certificates/automatic.ts';
import { flag, number } from '../database/cells.ts';
import { createCertificates } from '../database/certificates.ts';
import type { UploadedDatabase } from '../database/open.ts';
import type { ImportWarning, Reading, SourceFile } from '../reading.ts';
import { usedOf } from '../unique-names.ts';
import { guardsOf } from './access.ts';
import { CERTIFICATE_COLUMNS, certificateOf, pairsAmong } from './certificates.ts';
import { hostsOf } from './hosts.ts';
import { othersOf } from './others.ts';

/** Whether it is a database of Nginx Proxy Manager. */
export const isNginxProxyManager = (database: UploadedDatabase): boolean =>
  database.has('proxy_host', 'id', 'domain_names', 'forward_port', 'access_list_id');

const certificatesOf = (database: UploadedDatabase, files: readonly SourceFile[]) => {
  const among = pairsAmong(files);
  const rows = database.rows('certificate', CERTIFICATE_COLUMNS).filter((row) => !flag(row, 'is_deleted'));
  const byId = new Map(rows.map((row) => [number(row, 'id'), row]));
  return createCertificates((id) => {
    const row = byId.get(id);
    return row && certificateOf(row, among);
  });
};

/** Reads a database of Nginx Proxy Manager, with certificates among the files beside it. Throws a `DatabaseError`. */
export const readNginxProxyManager = (
  database: UploadedDatabase,
  file: string,
  files: readonly SourceFile[],
): Omit<Reading, 'errors' | 'staticFiles'> => {
  const rows = {
    lists: database.rows('access_list', ['id', 'is_deleted', 'name', 'satisfy_any', 'satify_any']),
    clients: database.rows('access_list_client', ['id', 'access_list_id', 'address', 'directive']),
    // The passwords themselves are of no use.
    passwords: database.rows('access_list_auth', ['id', 'access_list_id']),
  };
  const { of: guardOf, lists } = guardsOf(rows, file);
  const warnings: ImportWarning[] = [];
  const certificates = certificatesOf(database, files);
  const around = { guardOf, certificateOf: certificates.of };
  const hosts = database
    .rows('proxy_host', database.columns('proxy_host'))
    .flatMap((row) => hostsOf(row, file, around, warnings));
  return {
    source: 'nginx-proxy-manager',
    hosts,
    accessLists: usedOf(lists, hosts),
    certificates: certificates.taken(),
    warnings: [...warnings, ...aboutAutomatic('Nginx Proxy Manager', hosts), ...othersOf(database, file)],
  };
};
