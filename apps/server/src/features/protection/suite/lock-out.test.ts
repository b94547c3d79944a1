import { SECURITY_DEFAULTS } from '@sallyport/contract';
import { type Actor, systemActor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { generateToken, hashToken } from './break-glass.ts';
import { createLockOutRules } from './lock-out.ts';
import { securityStore } from './store.ts';

const caller = (ip: string, parts: Partial<Actor> = {}): Actor => ({
  ...systemActor('test'),
  identity: { kind: 'anonymous' },
  ip,
  isLocal: false,
  ...parts,
});
const outside = caller('192.0.2.7');
const here = caller('127.0.0.1', { isLocal: true });
const ours = systemActor('what confirmed nobody goes back');

const withRules = (
  work: (given: {
    isInForce: (token: string | undefined) => Promise<boolean>;
    store: ReturnType<typeof securityStore>;
    mayTurnOn: (actor: Actor, whitelist: string, token?: string) => Promise<boolean>;
    maySwitch: (enabled: boolean, actor: Actor) => Promise<boolean>;
  }) => Promise<void>,
) =>
  withStore(async (database) => {
    const rules = createLockOutRules(securityStore);
    const passes = (check: Promise<void>, status: number) =>
      check.then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ status });
          return false;
        },
      );
    await work({
      store: securityStore(database.kysely),
      isInForce: (token) => rules.isValidToken(database.kysely, token),
      mayTurnOn: (actor, whitelist, token) => passes(rules.checkTurnOn(database.kysely, actor, whitelist, token), 400),
      maySwitch: (enabled, actor) => passes(rules.checkSwitch(database.kysely, enabled, actor), enabled ? 400 : 403),
    });
  });

test('switching on takes a whitelist that holds the caller, on this host any; what we put back takes nothing', () =>
  withRules(async ({ mayTurnOn }) => {
    expect(await mayTurnOn(outside, '')).toBe(false);
    expect(await mayTurnOn(here, '')).toBe(false);
    expect(await mayTurnOn(ours, '')).toBe(true);
    expect(await mayTurnOn(outside, '198.51.100.0/24,203.0.113.1/32')).toBe(false);
    expect(await mayTurnOn(here, '198.51.100.0/24')).toBe(true);
    expect(await mayTurnOn(outside, '198.51.100.0/24,192.0.2.0/29')).toBe(true);
    expect(await mayTurnOn(caller('2001:db8::7'), '2001:db8::/64')).toBe(true);
  }));

test('or the token in force, and no other', () =>
  withRules(async ({ mayTurnOn, isInForce, store }) => {
    const [former, token] = [generateToken(), generateToken()];
    expect(await mayTurnOn(outside, '', token)).toBe(false);
    await store.setToken(hashToken(former), '2026-05-02T12:00:00.000Z');
    await store.setToken(hashToken(token), '2026-05-02T12:00:01.000Z');
    const given = [undefined, '', former, hashToken(token), token.slice(1), `${token}0`, token, ` ${token}\n`];
    const answers = [];
    for (const shown of given) {
      answers.push(await mayTurnOn(outside, '', shown));
      expect(await isInForce(shown)).toBe(answers.at(-1));
    }
    expect(answers).toEqual([false, false, false, false, false, false, true, true]);
    await store.deleteToken();
    expect(await mayTurnOn(outside, '', token)).toBe(false);
  }));

test('who sets the switch by itself needs the same, and nothing where it stays as it is', () =>
  withRules(async ({ maySwitch, store }) => {
    const whitelist = (admin_whitelist: string) =>
      store.setConfig({ ...SECURITY_DEFAULTS, waf_exclusions: [], updated_at: '', admin_whitelist });
    await store.setMaster(false);
    expect(await maySwitch(false, outside)).toBe(true);
    expect([await maySwitch(true, outside), await maySwitch(true, here)]).toEqual([false, false]);
    await whitelist('192.0.2.7/32');
    expect(await maySwitch(true, outside)).toBe(true);
    await whitelist('198.51.100.1/32');
    expect([await maySwitch(true, outside), await maySwitch(true, here)]).toEqual([false, true]);
    await store.setMaster(true);
    expect(await maySwitch(true, outside)).toBe(true);
    expect([await maySwitch(false, outside), await maySwitch(false, here)]).toEqual([false, true]);
  }));
