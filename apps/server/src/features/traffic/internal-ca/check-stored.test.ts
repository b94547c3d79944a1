import { INTERNAL_CA_CONTEXT } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { makeAuthority } from './authority.ts';
import { checkStoredAuthority } from './check-stored.ts';

test('a stored authority is one of two, with a root and the key of that root', async () => {
  const vault = createVault('k'.repeat(32));
  const [one, other] = await Promise.all([1, 2].map(() => makeAuthority('nas.lan', new Date())));
  const check = (id: number, keyPem = one?.keyPem ?? '') => {
    const row = { id, root_pem: one?.rootPem ?? '', key_sealed: vault.seal(keyPem, INTERNAL_CA_CONTEXT) };
    checkStoredAuthority(row, vault);
  };
  expect(() => check(1)).not.toThrow();
  expect(() => check(2)).not.toThrow();
  for (const id of [0, 3]) expect(() => check(id)).toThrow('neither the one that signs nor the next one');
  expect(() => check(1, other?.keyPem)).toThrow();
  expect(() => checkStoredAuthority({ id: 1, root_pem: one?.rootPem ?? '', key_sealed: 'v1.x' }, vault)).toThrow();
});
