import { CHAIN_KEY_CONTEXT } from '../secrets/contexts.ts';
import type { Vault } from '../secrets/vault.ts';
import { GENESIS, hashEnd, hashEntry, isSameHash } from './chain.ts';
import type { AuditStore, StoredChain } from './store.ts';

/** `entries` counts what was checked; `id` is the first entry that doesn't fit. */
export type ChainReport = { ok: true; entries: number } | { ok: false; entries: number; id: number; reason: string };

/**
 * Recomputes the chain from its anchor to its present head; entries that arrive meanwhile are left for the next time,
 * so no lock is needed. Throws when the chain's key can't be opened.
 */
export const verifyChain = async (store: AuditStore, vault: Vault): Promise<ChainReport> => {
  for (;;) {
    // Before the chain, which then can't be behind it: an entry and its place in the chain are committed together.
    const newestId = await store.newestId();
    const chain = await store.readChain();
    const report = await verifyPart(store, vault, chain, newestId);
    // Pruned meanwhile: what looked missing may have been removed by the rules.
    if (report.ok || (await store.readChain()).anchor_id === chain.anchor_id) return report;
  }
};

const verifyPart = async (
  store: AuditStore,
  vault: Vault,
  chain: StoredChain,
  newestId: number,
): Promise<ChainReport> => {
  const broken = (entries: number, id: number, reason: string): ChainReport => ({ ok: false, entries, id, reason });
  const oldest = await store.oldest();
  if (chain.key_sealed === '') {
    if (oldest) return broken(0, oldest.id, 'the chain has no key');
    return (await store.hasUsers()) ? broken(0, 1, 'there are users but no entries') : { ok: true, entries: 0 };
  }
  const key = vault.open(chain.key_sealed, CHAIN_KEY_CONTEXT);
  const isPruned = chain.anchor_id > 0 || chain.anchor_mac !== '';
  if (isPruned && !isSameHash(chain.anchor_mac, hashEnd(key, 'anchor', chain.anchor_id, chain.anchor_hash))) {
    return broken(0, chain.anchor_id, 'the mark of the last removed entry was changed');
  }
  if (!isSameHash(chain.head_mac, hashEnd(key, 'head', chain.head_id, chain.head_hash))) {
    return broken(0, chain.head_id, 'the mark of the newest entry was changed');
  }
  if (newestId > chain.head_id) return broken(0, newestId, 'an entry stands after the newest one');
  if (oldest && oldest.id <= chain.anchor_id) return broken(0, oldest.id, 'an entry stands before the first one kept');
  let previous = isPruned ? chain.anchor_hash : GENESIS;
  let last = chain.anchor_id;
  let entries = 0;
  for await (const portion of store.after(chain.anchor_id)) {
    for (const { hash, ...entry } of portion) {
      if (entry.id > chain.head_id) break;
      if (entry.id !== last + 1) return broken(entries, last + 1, 'the entry is missing');
      if (!isSameHash(hash, hashEntry(key, previous, entry))) return broken(entries, entry.id, 'the entry was changed');
      previous = hash;
      last = entry.id;
      entries += 1;
    }
  }
  if (last !== chain.head_id || previous !== chain.head_hash) {
    return broken(entries, last + 1, 'entries are missing at the end');
  }
  return { ok: true, entries };
};
