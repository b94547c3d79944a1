import type { KnownNames } from '../../bytes/known-names.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';

const ids = { cookie: sourceId('cookie'), name: sourceId('cookieName') };
const [semicolon, equals] = [0x3b, 0x3d] as const;

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x09;

/** Splits a Cookie header (Netscape format, as browsers send): pairs between semicolons; a pair without "=" is a name. */
export const storeCookies = (tx: Transaction, buf: Uint8Array, start: number, end: number, names: KnownNames): void => {
  for (let from = start; from < end; ) {
    let to = buf.indexOf(semicolon, from);
    if (to === -1 || to > end) to = end;
    while (from < to && isBlank(buf[from]!)) from++;
    if (from < to) {
      if (tx.entriesOf(ids.cookie).length >= tx.limits.maxArguments) {
        tx.limitsHit.add('arguments');
        return;
      }
      let split = buf.indexOf(equals, from);
      if (split === -1 || split > to) split = to;
      const { name, key } = names.nameOf(buf, from, split);
      tx.addEntry(ids.cookie, name, key, buf, Math.min(split + 1, to), to);
      tx.addEntry(ids.name, name, key, buf, from, split);
    }
    from = to + 1;
  }
};
