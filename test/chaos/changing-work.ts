import { expect } from 'vitest';
import { all, type Estate } from './estate.ts';
import type { Target } from './ledger.ts';
import { isAcknowledged, type Work } from './work.ts';

interface Change {
  id: number;
  batch: string;
}

/** Some are left when the power fails. */
const MOST_CHANGES = 40;

/** Hosts are made, changed and deleted one after the other: all that was acknowledged is there, and the last one or not. */
export const changingHosts = (estate: Estate, random: () => number): Work => {
  let certain: Record<string, Target> = {};
  /** What has no answer yet. */
  let open: { domain: string; target: Target } | undefined;
  const targets: Target[] = ['red', 'blue', undefined];
  return {
    name: 'changing hosts',
    async prepare() {
      certain = { ...all(estate, 'red') };
      await estate.prepare(certain);
    },
    async run() {
      try {
        for (let change = 0; change < MOST_CHANGES; change += 1) {
          const domain = estate.domains[Math.floor(random() * estate.domains.length)] as string;
          open = { domain, target: targets[Math.floor(random() * targets.length)] };
          await estate.put(domain, open.target);
          certain[domain] = open.target;
          open = undefined;
        }
        return true;
      } catch {
        return false;
      }
    },
    async check() {
      const found = await estate.answers();
      const done = open && { ...certain, [open.domain]: open.target };
      expect([certain, done]).toContainEqual(found);
      open = undefined;
      await estate.check();
    },
  };
};

/** An access list is told to admit everybody or nobody, again and again, and a setting is changed with it. */
export const changingLists = (estate: Estate): Work => {
  const [domain = ''] = estate.domains;
  const rules = (isOpen: boolean) => [{ cidr: isOpen ? '127.0.0.0/8' : '192.0.2.7' }];
  let id: number | undefined;
  const list = { isOpen: true, tried: true };
  const kept = { value: '20', tried: '20' };

  const storedKept = async (): Promise<string | undefined> => {
    const path = '/settings?per_page=100';
    const { settings } = await estate.call<{ settings: { key: string; value: string }[] }>('GET', path);
    return settings.find(({ key }) => key === 'backup.keep')?.value;
  };
  const changeOnce = async (change: number): Promise<void> => {
    list.tried = !list.isOpen;
    await estate.call('PUT', `/access-lists/${id}`, { rules: rules(list.tried) });
    list.isOpen = list.tried;
    kept.tried = String(20 + change);
    await estate.call('POST', '/settings', { key: 'backup.keep', value: kept.tried });
    kept.value = kept.tried;
  };
  return {
    name: 'changing lists and settings',
    async prepare() {
      await estate.prepare(all(estate, 'red'));
      const fields = { name: 'some', type: 'allow', rules: rules(true) };
      id ??= (await estate.call<{ id: number }>('POST', '/access-lists', fields)).id;
      await estate.call('PUT', `/access-lists/${id}`, { rules: rules(true) });
      list.isOpen = true;
      list.tried = true;
      const host = (await estate.hosts()).find((one) => one.domain === domain);
      await estate.call('PUT', `/proxy-hosts/${host?.uuid}`, { access_list_id: id });
      await changeOnce(0);
    },
    async run() {
      try {
        for (let change = 1; change < MOST_CHANGES; change += 1) await changeOnce(change);
        return true;
      } catch {
        return false;
      }
    },
    async check() {
      const found = await estate.answers();
      expect([list.isOpen, list.tried].map((isOpen) => (isOpen ? 'red' : 'refused'))).toContain(found[domain]);
      expect(found).toEqual({ ...all(estate, 'red'), [domain]: found[domain] });
      expect([kept.value, kept.tried]).toContain(await storedKept());
      await estate.check();
    },
  };
};

/** A change goes back, or those of one bulk call: all of it or nothing. */
export const reverting = (estate: Estate, what: 'change' | 'batch'): Work => {
  const before = all(estate, 'red');
  const changed = what === 'batch' ? estate.domains : estate.domains.slice(0, 1);
  const after = { ...before, ...Object.fromEntries(changed.map((domain) => [domain, 'blue'])) };
  let last: Change | undefined;
  return {
    name: `reverting a ${what}`,
    async prepare() {
      await estate.prepare(before);
      if (what === 'batch') await estate.putAll('blue');
      else for (const domain of changed) await estate.put(domain, 'blue');
      expect(await estate.answers()).toEqual(after);
      [last] = await estate.call<Change[]>('GET', '/history?resource=proxy-hosts&per_page=1');
    },
    run() {
      const path = what === 'batch' ? `/history/batches/${last?.batch}/revert` : `/history/${last?.id}/revert`;
      return isAcknowledged(estate.call('POST', path));
    },
    async check(wasAcknowledged) {
      expect(wasAcknowledged ? [before] : [before, after]).toContainEqual(await estate.answers());
      await estate.check();
    },
  };
};
