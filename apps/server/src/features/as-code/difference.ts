import type { ConfigChange } from '@sallyport/contract';
import { isSame } from '@sallyport/store/history/state';
import { type Described, describe } from './describe.ts';
import { SECTIONS } from './sections.ts';
import type { Stored } from './stored.ts';

/** Rules of a firewall are megabytes. */
const MOST_SHOWN = 1_000;

const shown = (value: unknown): unknown => {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  if (text.length <= MOST_SHOWN) return value ?? null;
  return `${text.slice(0, MOST_SHOWN)}… (${text.length} characters)`;
};

const fieldsBetween = (before: Described | undefined, after: Described | undefined): ConfigChange['fields'] => {
  const old = before?.fields ?? {};
  const fresh = after?.fields ?? {};
  return [...new Set([...Object.keys(old), ...Object.keys(fresh)])]
    .filter((field) => !isSame(old[field], fresh[field]))
    .map((field) => ({ field, before: shown(old[field]), after: shown(fresh[field]) }));
};

/** What is different between two states, in the words and the order of a document. */
export const differenceBetween = (before: Stored, after: Stored): ConfigChange[] => {
  const olds = describe(before);
  const news = describe(after);
  return SECTIONS.flatMap((section) => {
    const old = new Map(olds[section].map((one) => [one.key, one]));
    const fresh = new Map(news[section].map((one) => [one.key, one]));
    return [...new Set([...fresh.keys(), ...old.keys()])].flatMap((key): ConfigChange[] => {
      const was = old.get(key);
      const is = fresh.get(key);
      const fields = fieldsBetween(was, is);
      if (fields.length === 0) return [];
      // A setting is always there, with its default.
      const isUpdate = section === 'settings' || (was && is);
      const action = isUpdate ? 'update' : is ? 'create' : 'delete';
      return [{ section, name: (is ?? was)?.name ?? key, action, fields }];
    });
  });
};
