import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pebble, startPebble } from '../../../../test/support/start-pebble.ts';
import { AcmeProblem, AcmeProtocolError } from '../../src/index.ts';
import { newAccountKey } from '../account-key.ts';
import { failure } from '../failure.ts';
import { clientOf } from './given.ts';

describe('accounts', () => {
  let pebble: Pebble;
  beforeAll(async () => {
    pebble = await startPebble();
  });
  afterAll(() => pebble?.stop());

  test('terms that nobody agrees to', async () => {
    expect((await clientOf(pebble).directory()).termsOfService).toMatch(/^(https?|data):/);
    const problem = (await failure(clientOf(pebble).register({ termsAgreed: false }))) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem.detail).toMatch(/terms of service|agree/i);
  });

  test('an account is found by its key, made once, and gone when deactivated', async () => {
    const accountKey = newAccountKey();
    const first = clientOf(pebble, { accountKey });
    expect(await first.findAccount()).toBeUndefined();
    expect(await failure(first.newOrder({ names: ['a.example.com'] }))).toBeInstanceOf(AcmeProblem);
    const { accountUrl } = await first.register({ email: 'admin@example.com', termsAgreed: true });
    expect(await first.register({ termsAgreed: true })).toEqual({ accountUrl });
    const second = clientOf(pebble, { accountKey });
    expect((await second.newOrder({ names: ['a.example.com'] })).names).toEqual(['a.example.com']);
    expect(await second.findAccount()).toEqual({ accountUrl });
    const third = clientOf(pebble, { accountKey, accountUrl });
    expect((await third.newOrder({ names: ['a.example.com'] })).status).toBe('pending');
    await third.deactivateAccount();
    expect(await failure(second.newOrder({ names: ['a.example.com'] }))).toBeInstanceOf(AcmeProblem);
  });

  test('accounts that have to be bound to an external one', async () => {
    const hmacKey = Buffer.from('a key that the CA has given out, of 48 bytes, yes').toString('base64url');
    const pebble = await startPebble({ externalAccounts: { 'kid-1': hmacKey }, isCredulous: true });
    try {
      const register = (eab?: { kid: string; hmacKey: string }) =>
        clientOf(pebble).register({ termsAgreed: true, ...(eab && { eab }) });
      expect((await clientOf(pebble).directory()).externalAccountRequired).toBe(true);
      const none = (await failure(register())) as AcmeProblem;
      expect(none.is('externalAccountRequired')).toBe(true);
      const wrong = Buffer.from('a key that the CA has never given out to anyone').toString('base64url');
      expect(await failure(register({ kid: 'kid-1', hmacKey: wrong }))).toBeInstanceOf(AcmeProblem);
      expect(await failure(register({ kid: 'kid-2', hmacKey }))).toBeInstanceOf(AcmeProblem);
      expect(await failure(register({ kid: 'kid-1', hmacKey: 'not base64!' }))).toBeInstanceOf(AcmeProtocolError);
      expect((await register({ kid: 'kid-1', hmacKey })).accountUrl).toContain(new URL(pebble.directoryUrl).host);
    } finally {
      await pebble.stop();
    }
  });
});
