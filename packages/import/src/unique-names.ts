import { clean } from './clean.ts';
import type { ImportedAccessList } from './reading.ts';

/** Gives lists of one name a number: ours differ in their names. */
export const createNames = () => {
  const taken = new Set<string>();
  return (said: string): string => {
    const wanted = clean(said);
    let name = wanted;
    for (let count = 2; taken.has(name); count += 1) name = `${wanted} (${count})`;
    taken.add(name);
    return name;
  };
};

/** Those of the lists that hosts are guarded by. */
export const usedOf = (
  lists: readonly ImportedAccessList[],
  hosts: readonly { access_list?: string }[],
): ImportedAccessList[] => {
  const used = new Set(hosts.map(({ access_list }) => access_list));
  return lists.filter(({ name }) => used.has(name));
};
