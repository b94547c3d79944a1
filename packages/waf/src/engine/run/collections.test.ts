import { describe, expect, test } from 'vitest';
import { given } from '../../../test/support/given.ts';
import { type CollectionStore, compile } from '../../index.ts';
import { createMemoryStore } from './memory-store.ts';

const start = Date.UTC(2026, 1, 1);
const text = `SecRuleEngine On
SecCollectionTimeout 60
SecAction "id:1,phase:1,pass,nolog,initcol:ip=%{REMOTE_ADDR},setvar:ip.count=+1"
SecRule ARGS:ban "@eq 1" "id:2,phase:1,pass,nolog,setvar:ip.banned=1,expirevar:ip.banned=10"
SecRule IP:banned "@eq 1" "id:3,phase:1,deny,status:429,log,msg:'%{ip.count}'"
SecRule &IP:count "@eq 0" "id:4,phase:1,pass,log"
`;

const engine = (store?: CollectionStore) => {
  const { ruleSet, diagnostics } = compile([{ path: 'x', text }], store === undefined ? {} : { store });
  expect(diagnostics).toEqual([]);
  return (clientAddress: string, seconds: number, query = '') =>
    ruleSet!.inspect(given.request({ clientAddress, now: start + seconds * 1_000, query }));
};

describe('persistent collections', () => {
  test('keep values between requests of one key, and no longer than they may', () => {
    const at = engine();
    expect(at('192.0.2.1', 0).action).toBe('pass');
    expect(at('192.0.2.1', 1, 'ban=1')).toMatchObject({ action: 'block', status: 429, matches: [{ message: '2' }] });
    expect(at('192.0.2.2', 2).action).toBe('pass');
    expect(at('192.0.2.1', 10).action).toBe('block');
    expect(at('192.0.2.1', 11.001).action).toBe('pass');
  });

  test('forget a value when SecCollectionTimeout has passed', () => {
    const at = engine();
    at('192.0.2.1', 0, 'ban=1');
    const late = at('192.0.2.1', 61, 'ban=1');
    expect(late.matches.map(({ message }) => message)).toEqual(['1']);
  });

  test('are shared by rule sets that share a store', () => {
    const store = createMemoryStore();
    engine(store)('192.0.2.1', 0, 'ban=1');
    expect(engine(store)('192.0.2.1', 1).action).toBe('block');
    expect(engine()('192.0.2.1', 1).action).toBe('pass');
  });

  test('are bounded: the store forgets the oldest, a collection takes no more than 256 values', () => {
    const store = createMemoryStore(2);
    const at = engine(store);
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) at(address, 0, 'ban=1');
    expect(['192.0.2.1', '192.0.2.3'].map((address) => at(address, 1).action)).toEqual(['pass', 'block']);
    const many = Array.from({ length: 300 }, (_, name) => `setvar:global.v${name}=1`).join(',');
    const { ruleSet } = compile(
      [{ path: 'x', text: `SecRuleEngine On\nSecAction "id:1,phase:1,pass,nolog,initcol:global=g,${many}"` }],
      { store },
    );
    expect(ruleSet!.inspect(given.request({})).limitsHit).toEqual(['persistent_store']);
  });
});
