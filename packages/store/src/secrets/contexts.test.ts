import { expect, test } from 'vitest';
import * as contexts from './contexts.ts';

test('what is stored was sealed for these places, each of its own: another text opens nothing of it', () => {
  const {
    CHAIN_KEY_CONTEXT,
    certificateKeyContext,
    orderKeyContext,
    acmeAccountContext,
    eabContext,
    dnsProviderContext,
    INTERNAL_CA_CONTEXT,
    totpContext,
    settingContext,
    consoleContext,
    historyContext,
    answerContext,
    importContext,
    ...others
  } = contexts;
  expect([
    CHAIN_KEY_CONTEXT,
    certificateKeyContext('0b5c'),
    orderKeyContext(7),
    acmeAccountContext('0b5c'),
    eabContext('0b5c'),
    dnsProviderContext('0b5c'),
    INTERNAL_CA_CONTEXT,
    totpContext(7),
    settingContext('smtp.password'),
    consoleContext('m1'),
    historyContext('b1', 'certificates/0b5c'),
    answerContext('k1'),
    importContext('0b5c', 'files'),
    importContext('0b5c', 'reading'),
  ]).toEqual([
    'audit:chain',
    'certificate:0b5c',
    'certificate-order:7',
    'acme-account:0b5c',
    'acme-account:0b5c:eab',
    'dns-provider:0b5c',
    'internal-ca',
    'user:7:totp',
    'setting:smtp.password',
    'crowdsec:console:m1',
    'history:b1:certificates/0b5c',
    'idempotency:k1',
    'import:0b5c:files',
    'import:0b5c:reading',
  ]);
  // A new one belongs here.
  expect(others).toEqual({});
});
