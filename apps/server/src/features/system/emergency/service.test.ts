import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';
import type { Drill } from '@sallyport/recovery/drill/drill';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { areSwitchedOn } from '@sallyport/store/security-switches';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { createEmergency, type EmergencyDeps } from './service.ts';

const TOKEN = 'e'.repeat(64);
const LOOPBACK = { network: '127.0.0.0', prefix: 8, family: 'ipv4' } as const;
const ACTOR = { ...systemActor('test'), ip: '127.0.0.1', userAgent: 'curl/8' };

/** The way back in of a server whose HAProxy is away; what it writes down and logs is noted. */
const given = (
  config: Partial<EmergencyDeps['config']>,
  work: (it: {
    emergency: ReturnType<typeof createEmergency>;
    noted: { recorded: ChangeEntry[]; refused: ChangeEntry[]; enforced: number; logged: Record<string, unknown>[] };
    isOn: () => Promise<boolean>;
    /** From now on nothing can be written to the trail, and nothing enforced. */
    breakDown: () => void;
  }) => Promise<void>,
) =>
  withStore(async ({ kysely, transact }, dataDir) => {
    const noted = { recorded: [] as ChangeEntry[], refused: [] as ChangeEntry[], enforced: 0, logged: [] as never[] };
    let isBroken = false;
    const attempt = async (): Promise<void> => {
      if (isBroken) throw new Error('it is broken');
    };
    const emergency = createEmergency({
      config: { dataDir, emergencyToken: TOKEN, emergencyBind: undefined, managementCidrs: [LOOPBACK], ...config },
      drill: { run: async () => ({ ok: true }), provenAt: async () => '2026-05-02T12:00:00.000Z' } as unknown as Drill,
      transact,
      record: async (_tx, entry) => void noted.recorded.push(entry),
      async note(entry) {
        noted.refused.push(entry);
        await attempt();
      },
      async enforce() {
        noted.enforced += 1;
        await attempt();
      },
      log: pino({}, { write: (line) => void noted.logged.push(JSON.parse(line) as never) }),
    });
    await kysely.insertInto('settings').values({ key: 'feature.guard.enabled', value: 'true' }).execute();
    try {
      await work({
        ...{ emergency, noted },
        isOn: async () => (await areSwitchedOn(kysely)).guard,
        breakDown: () => {
          isBroken = true;
        },
      });
    } finally {
      await emergency.stop();
    }
  });

test('who has the token switches everything off, which is stored, written down and enforced', () =>
  given({}, async ({ emergency, noted, isOn, breakDown }) => {
    expect(await isOn()).toBe(true);
    await emergency.reset(TOKEN, ACTOR);
    expect([await isOn(), noted.enforced]).toEqual([false, 1]);
    expect(noted.recorded).toMatchObject([{ action: 'emergency.reset', actor: ACTOR }]);
    expect(noted.logged[0]).toMatchObject({ level: 40, msg: 'emergency reset', ip: '127.0.0.1', user_agent: 'curl/8' });
    expect(JSON.stringify(noted)).not.toContain(TOKEN);
    breakDown();
    await emergency.reset(TOKEN, ACTOR);
    await expect
      .poll(() => noted.logged.map(({ msg, reason }) => [msg, reason]))
      .toContainEqual(['the reset is stored, but not everywhere in force yet', 'it is broken']);
  }));

test('an attempt that is refused is written down, with why and from where, and changes nothing', () =>
  given({}, async ({ emergency, noted, isOn, breakDown }) => {
    const wrong = 'x'.repeat(64);
    await expect(emergency.reset(wrong, ACTOR)).rejects.toMatchObject({ status: 401 });
    await expect(emergency.reset(TOKEN, { ...ACTOR, ip: '192.0.2.1' })).rejects.toMatchObject({ status: 403 });
    expect(noted.refused).toMatchObject([
      { action: 'emergency.refused', resource: 'emergency', actor: ACTOR, after: { server: 'api' } },
      { action: 'emergency.refused', actor: { ip: '192.0.2.1' } },
    ]);
    expect(noted.logged).toMatchObject([
      { msg: 'emergency reset refused', ip: '127.0.0.1', user_agent: 'curl/8' },
      { msg: 'emergency reset refused', ip: '192.0.2.1' },
    ]);
    for (const { reason } of noted.logged) expect(reason).toEqual(expect.stringMatching(/./));
    expect(JSON.stringify(noted)).not.toMatch(new RegExp(`${wrong}|${TOKEN}`));
    breakDown();
    await expect(emergency.reset(undefined, ACTOR)).rejects.toMatchObject({ status: expect.any(Number) });
    await expect.poll(() => noted.logged.at(-1)).toMatchObject({ msg: 'the audit trail could not be written' });
    expect([await isOn(), noted.enforced, noted.recorded]).toEqual([true, 0, []]);
  }));

test('without a token nobody gets in, and the status says so', () =>
  given({ emergencyToken: undefined }, async ({ emergency, isOn }) => {
    await expect(emergency.reset(undefined, ACTOR)).rejects.toMatchObject({ status: 501 });
    await expect(emergency.reset(TOKEN, ACTOR)).rejects.toMatchObject({ status: 501 });
    expect(await isOn()).toBe(true);
    const proven = { last_proven_at: '2026-05-02T12:00:00.000Z' };
    const status = await emergency.status();
    const { env_file, command, ...rest } = status;
    expect(rest).toEqual({ token_set: false, listener: null, ...proven });
    // What somebody who is locked out finds on paper has to be there.
    expect(statSync(dirname(env_file)).isDirectory()).toBe(true);
    expect([isAbsolute(env_file), basename(env_file)]).toEqual([true, '.env']);
    expect(statSync(command).mode & 0o111).toBe(0o111);
    expect(await emergency.drill(ACTOR)).toEqual({ ok: true });
  }));

test('the status names the listener', () =>
  given({ emergencyBind: { host: '::1', port: 9_100 } } as never, async ({ emergency }) => {
    expect(await emergency.status()).toMatchObject({ token_set: true, listener: '[::1]:9100' });
  }));
