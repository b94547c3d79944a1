import { flag, list, number, placeOf, text } from '../database/cells.ts';
import type { Row } from '../database/open.ts';
import { type Loss, loss } from '../loss.ts';
import type { ImportedAccessList, Place } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { createNames } from '../unique-names.ts';

const TYPES: Readonly<Record<string, ImportedAccessList['type']>> = {
  whitelist: 'allow',
  blacklist: 'deny',
  geo_whitelist: 'geo_allow',
  geo_blacklist: 'geo_deny',
  allow: 'allow',
  deny: 'deny',
  geo_allow: 'geo_allow',
  geo_deny: 'geo_deny',
};

const rulesOf = (row: Row): ImportedAccessList['rules'] | undefined => {
  const rules = list(row, 'ip_rules')?.map((rule) => (rule ?? {}) as { cidr?: unknown; description?: unknown });
  if (!rules?.every(({ cidr }) => typeof cidr === 'string')) return undefined;
  return rules.map(({ cidr, description }) => ({
    cidr: String(cidr).trim(),
    ...(typeof description === 'string' && { description: shorten(description, 1_000) }),
  }));
};

const listOf = (row: Row, name: string): ImportedAccessList | undefined => {
  const kind = text(row, 'type');
  const type = Object.hasOwn(TYPES, kind) ? TYPES[kind] : undefined;
  const rules = rulesOf(row);
  if (type === undefined || rules === undefined) return undefined;
  const isGeo = type.startsWith('geo_');
  const countries = text(row, 'country_codes')
    .split(',')
    .map((code) => code.trim().toUpperCase())
    .filter((code) => code !== '');
  return {
    name,
    description: shorten(text(row, 'description'), 4_000),
    type,
    rules,
    ...(isGeo && { countries }),
    local_network_only: flag(row, 'local_network_only'),
    enabled: flag(row, 'enabled', true),
  };
};

/** Charon's access lists as ours, and what guards a host that has one of them, by its id. */
export const listsOf = (rows: readonly Row[], file: string) => {
  const nameFor = createNames();
  const lists = new Map<number, ImportedAccessList>();
  for (const row of rows) {
    const made = listOf(row, nameFor(shorten(text(row, 'name') || `Access list ${number(row, 'id')}`, 200)));
    if (made) lists.set(number(row, 'id'), made);
  }
  return {
    lists: [...lists.values()],
    of(id: number, host: Place): { list?: ImportedAccessList; losses: Loss[] } {
      if (id === 0) return { losses: [] };
      const found = lists.get(id);
      if (found) return { list: found, losses: [] };
      const row = rows.find((one) => number(one, 'id') === id);
      if (!row) return { losses: [loss(host, `its access list ${id} is not in the database`, true)] };
      const message = `the access list ${shorten(text(row, 'name'))} is not understood: make one, and give it to the host`;
      return { losses: [loss(placeOf(file, 'access_lists', row), message, true)] };
    },
  };
};
