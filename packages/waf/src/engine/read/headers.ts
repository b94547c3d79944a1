import type { KnownNames } from '../../bytes/known-names.ts';
import type { RawHeader } from '../../model/request.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';
import { storeCookies } from './cookies.ts';

const requestIds = { header: sourceId('requestHeader'), name: sourceId('requestHeaderName') };
const responseIds = { header: sourceId('responseHeader'), name: sourceId('responseHeaderName') };

const store = (tx: Transaction, headers: readonly RawHeader[], ids: typeof requestIds, names: KnownNames): void => {
  for (const [name, value] of headers) {
    const known = names.nameOf(name, 0, name.length);
    tx.addEntry(ids.header, known.name, known.key, value, 0, value.length);
    tx.addEntry(ids.name, known.name, known.key, name, 0, name.length);
  }
};

/** Stores request headers and the cookies in them. */
export const storeRequestHeaders = (tx: Transaction, names: KnownNames): void => {
  store(tx, tx.request.headers, requestIds, names);
  for (const entry of tx.entriesNamed(requestIds.header, 'cookie'))
    storeCookies(tx, entry.buf, entry.start, entry.end, names);
};

/** Stores the headers of a response. */
export const storeResponseHeaders = (tx: Transaction, headers: readonly RawHeader[], names: KnownNames): void =>
  store(tx, headers, responseIds, names);

/** The first request header of that lower-case name, as an entry. */
export const requestHeader = (tx: Transaction, key: string) => tx.entriesNamed(requestIds.header, key)[0];
