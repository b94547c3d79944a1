import { isIP } from 'node:net';
import { flag, number, placeOf, text } from '../database/cells.ts';
import type { Row } from '../database/open.ts';
import { type Loss, loss } from '../loss.ts';
import type { ImportedAccessList, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { createNames } from '../unique-names.ts';

/** What guards a host: a list of ours where one says the same, and what is lost of it. */
export interface Guard {
  list?: ImportedAccessList;
  losses: Loss[];
}

/** Rows of the tables that an access list is kept in. */
export interface AccessRows {
  lists: readonly Row[];
  clients: readonly Row[];
  passwords: readonly Row[];
}

const isNetwork = (address: string): boolean => {
  const [ip = '', length, ...more] = address.split('/');
  const family = isIP(ip);
  if (family === 0 || more.length > 0) return false;
  return length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128));
};

/**
 * Addresses as nginx asks them, the first that fits decides, and nobody else comes in: what of it one of our lists can say. Undefined
 * when it can not.
 */
const rulesOf = (clients: readonly Row[]): Pick<ImportedAccessList, 'type' | 'rules'> | undefined => {
  const end = clients.findIndex((row) => text(row, 'address') === 'all');
  const last = end === -1 ? 'deny' : text(clients[end]!, 'directive');
  const asked = end === -1 ? clients : clients.slice(0, end);
  const other = last === 'deny' ? 'allow' : 'deny';
  const fits = asked.every((row) => text(row, 'directive') === other && isNetwork(text(row, 'address')));
  if (!fits || !['allow', 'deny'].includes(last)) return undefined;
  return { type: other, rules: asked.map((row) => ({ cidr: text(row, 'address') })) };
};

const guardOf = (list: Row, at: Place, { clients, passwords }: Omit<AccessRows, 'lists'>): Guard => {
  const name = shorten(text(list, 'name') || `Access list ${at.line}`, 200);
  const losses: Loss[] = [];
  const anyWillDo = flag(list, 'satisfy_any') || flag(list, 'satify_any');
  if (passwords.length > 0) {
    const message = `the access list ${shorten(name)} asks for a password, which a proxy host does not`;
    losses.push(loss(at, message, true));
  }
  if (clients.length === 0) {
    if (passwords.length === 0)
      losses.push(loss(at, `the access list ${shorten(name)} has neither addresses nor passwords`, true));
    return { losses };
  }
  const rules = rulesOf(clients);
  if (rules === undefined) {
    const message = `the access list ${shorten(name)} lets addresses in and keeps others out in an order that no list here says: make one, and give it to the host`;
    losses.push(loss(at, message, true));
    return { losses };
  }
  if (passwords.length > 0 && anyWillDo) {
    losses.push(loss(at, `the access list ${shorten(name)} lets in by address or by password; here by address only`));
  }
  return { list: { name, ...rules }, losses };
};

/** The lists of ours that access lists come to, and what guards a host that has one of them, by its id. */
export const guardsOf = ({ lists, clients, passwords }: AccessRows, file: string) => {
  const byList = (rows: readonly Row[]) => Map.groupBy(rows, (row) => number(row, 'access_list_id'));
  const [clientsOf, passwordsOf] = [byList(clients), byList(passwords)];
  const guards = new Map<number, Guard>();
  const nameFor = createNames();
  for (const row of lists) {
    if (flag(row, 'is_deleted')) continue;
    const id = number(row, 'id');
    const parts = { clients: clientsOf.get(id) ?? [], passwords: passwordsOf.get(id) ?? [] };
    const { list, losses } = guardOf(row, placeOf(file, 'access_list', row), parts);
    guards.set(id, { losses, ...(list && { list: { ...list, name: nameFor(list.name) } }) });
  }
  return {
    lists: [...guards.values()].flatMap(({ list }) => list ?? []),
    of(id: number, host: Place): Guard {
      if (id === 0) return { losses: [] };
      return guards.get(id) ?? { losses: [loss(host, `its access list ${id} is not in the database`, true)] };
    },
  };
};
