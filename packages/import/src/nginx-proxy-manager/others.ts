import { flag, placeOf, text } from '../database/cells.ts';
import type { Row, UploadedDatabase } from '../database/open.ts';
import { warn } from '../loss.ts';
import type { ImportWarning } from '../reading.ts';
import { onlyRedirects } from '../redirection.ts';
import { shorten } from '../shorten.ts';
import { namesOf } from './hosts.ts';

interface Kind {
  table: string;
  columns: readonly string[];
  says: (row: Row) => string;
}

const namesIn = (row: Row): string => shorten(namesOf(row)?.join(', ') ?? 'a host whose names are no list', 200);

/** What has no counterpart here, and what to say of it. */
const KINDS: readonly Kind[] = [
  {
    table: 'redirection_host',
    columns: ['domain_names', 'forward_scheme', 'forward_domain_name', 'forward_http_code', 'preserve_path'],
    says: (row) => {
      const scheme = text(row, 'forward_scheme');
      // Without one that of the request is kept.
      const to = `${/^https?$/.test(scheme) ? `${scheme}://` : ''}${text(row, 'forward_domain_name')}`;
      const rest = flag(row, 'preserve_path') ? ' with the same path' : '';
      const code = text(row, 'forward_http_code') || '302';
      return `${namesIn(row)} is not imported: ${onlyRedirects({ to: `${to}${rest}`, code })}`;
    },
  },
  {
    table: 'dead_host',
    columns: ['domain_names'],
    says: (row) => `${namesIn(row)} is not imported: it answers 404, as unknown names do here`,
  },
  {
    table: 'stream',
    columns: ['incoming_port', 'forwarding_host', 'forward_ip', 'forwarding_port'],
    says: (row) => {
      const host = text(row, 'forwarding_host') || text(row, 'forward_ip');
      const to = shorten(`${host}:${text(row, 'forwarding_port')}`);
      return `the stream of port ${shorten(text(row, 'incoming_port'))} to ${to} is not imported: only HTTP is proxied`;
    },
  },
];

/** What a database has besides proxy hosts, in words. Throws a `DatabaseError`. */
export const othersOf = (database: UploadedDatabase, file: string): ImportWarning[] =>
  KINDS.flatMap(({ table, columns, says }) =>
    database
      .rows(table, ['id', 'is_deleted', ...columns])
      .filter((row) => !flag(row, 'is_deleted'))
      .map((row) => warn(placeOf(file, table, row), says(row))),
  );
