import { flag, number, text } from '../database/cells.ts';
import type { UploadedDatabase } from '../database/open.ts';
import { usedOf } from '../database/unique-names.ts';
import { shorten } from '../draft.ts';
import type { ImportWarning, Reading } from '../reading.ts';
import { guardsOf } from './access.ts';
import { HOST_COLUMNS, hostsOf, type Surroundings } from './hosts.ts';
import { othersOf } from './others.ts';

/** Whether it is a database of Nginx Proxy Manager. */
export const isNginxProxyManager = (database: UploadedDatabase): boolean =>
  database.has('proxy_host', 'id', 'domain_names', 'forward_port', 'access_list_id');

const certificatesOf = (database: UploadedDatabase): Surroundings['certificates'] => {
  const rows = database.rows('certificate', ['id', 'is_deleted', 'provider', 'nice_name']);
  return new Map(
    rows
      .filter((row) => !flag(row, 'is_deleted'))
      .map((row) => {
        const id = number(row, 'id');
        const isOwn = text(row, 'provider') === 'other';
        const where = isOwn ? `custom_ssl/npm-${id}` : `letsencrypt/live/npm-${id}`;
        return [id, `its certificate ${shorten(text(row, 'nice_name'))} is not in the database, but in ${where}`];
      }),
  );
};

/** Reads a database of Nginx Proxy Manager. Throws a `DatabaseError`. */
export const readNginxProxyManager = (
  database: UploadedDatabase,
  file: string,
): Omit<Reading, 'errors' | 'staticFiles'> => {
  const rows = {
    lists: database.rows('access_list', ['id', 'is_deleted', 'name', 'satisfy_any', 'satify_any']),
    clients: database.rows('access_list_client', ['id', 'access_list_id', 'address', 'directive']),
    // The passwords themselves are of no use.
    passwords: database.rows('access_list_auth', ['id', 'access_list_id']),
  };
  const { of: guardOf, lists } = guardsOf(rows, file);
  const warnings: ImportWarning[] = [];
  const around = { guardOf, certificates: certificatesOf(database) };
  const hosts = database.rows('proxy_host', HOST_COLUMNS).flatMap((row) => hostsOf(row, file, around, warnings));
  return {
    source: 'nginx-proxy-manager',
    hosts,
    accessLists: usedOf(lists, hosts),
    warnings: [...warnings, ...othersOf(database, file)],
  };
};
