import { expect, test } from 'vitest';
import * as contexts from './contexts.ts';

test('what is stored was sealed for these places, each of its own: another text opens nothing of it', () => {
  const {
    CHAIN_KEY_CONTEXT,
    certificateKeyContext,
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
