import { randomUUID } from 'node:crypto';
import { makeCertificateKey } from '@sallyport/acme';
import type { NotificationEvent, RevocationReason } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { fingerprintOf } from '@sallyport/store/revoked-certificates';
import { acmeAccountContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../../test/support/certificates.ts';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';
import { withStore } from '../../../../testing/with-store.ts';
import type { StoredAccount } from '../accounts/store.ts';
import { createRevoking, type RevokingDeps } from './service.ts';
import { type Asked, revocationStore } from './store.ts';

const ACTOR = { ...systemActor('test'), idempotencyId: 'i', requestId: 'r' };
const START = Date.parse('2026-05-02T12:00:00.000Z');
const MINUTE_MS = 60_000;
const vault = createVault('k'.repeat(32));
const pair = makeCertificate(['a.test']);

let ca: ScriptedCa;
let account: StoredAccount;
beforeAll(async () => {
  ca = await startScriptedCa();
  account = {
    ...{ id: 7, uuid: 'u', name: 'Scripted', email: '', terms_agreed: 1, eab_kid: null, eab_hmac_sealed: null },
    ...{ directory_url: ca.account.directory_url, ca_certificate: ca.account.ca_certificate },
    ...{ account_url: new URL('/account/1', ca.account.directory_url).href, created_at: '', updated_at: '' },
    key_sealed: vault.seal(await makeCertificateKey('p256'), acmeAccountContext('u')),
  };
});
afterAll(() => ca?.stop());
afterEach(() => {
  for (const what of ['revoke', 'directory']) ca.script(what, undefined);
});

const CERTIFICATE = {
  ...{ id: 3, uuid: randomUUID(), name: 'a', provider: 'acme', domains: 'a.test' },
  expires_at: '2026-08-01T00:00:00.000Z',
};

/** One certificate that an authority issued; what is done about it is noted. */
const given = (
  work: (it: {
    revoking: ReturnType<typeof createRevoking>;
    /** What is so at the moment. */
    world: {
      now: number;
      issuer: string | undefined;
      accountId: number | null;
      revokedAt: string | null;
      chain: string;
      ids: number[];
      isHere: boolean;
    };
    noted: { told: NotificationEvent[]; changes: unknown[]; revoked: unknown[]; synced: number[][]; nudges: number };
    logged: string[];
    rows: () => Promise<Pick<Asked, 'failures' | 'next_attempt_at' | 'leased_until'>[]>;
    /** As a process does that ended in between. */
    begin: (reason?: RevocationReason) => Promise<boolean>;
    asked: () => readonly { reason: number | undefined; isByAccount: boolean }[];
  }) => Promise<void>,
) =>
  withStore(async ({ kysely: db, transact, transactAside }) => {
    const before = ca.revocations.length;
    const world: Parameters<typeof work>[0]['world'] = {
      ...{ now: START, issuer: 'acme', accountId: 7, revokedAt: null, chain: pair.certificate, ids: [3], isHere: true },
    };
    const noted: Parameters<typeof work>[0]['noted'] = { told: [], changes: [], revoked: [], synced: [], nudges: 0 };
    const logged: string[] = [];
    const held = () => ({
      ...CERTIFICATE,
      ...{ revoked_at: world.revokedAt, chain_pem: world.chain, key_pem: pair.key },
      ...{ used_by: [], used_by_total: 0 },
    });
    const revoking = createRevoking({
      ...{ db, transact, transactAside, store: revocationStore, vault, isAlone: true, random: () => 0, lookMs: 1 },
      orders: () => ({
        find: async () => world.issuer && { issuer: world.issuer, account_id: world.accountId },
        change: async (id: number, fields: object) => void noted.changes.push({ id, ...fields }),
      }),
      certificates: {
        get: async () => held(),
        async open() {
          if (!world.isHere) throw refuse.notFound('Certificate not found');
          return held();
        },
        within: {
          async noteRevoked(
            _tx: unknown,
            { id, chain_pem }: Asked['certificate'] & Asked,
            reason: string,
            actor: unknown,
          ) {
            noted.revoked.push({ id, chain_pem, reason, actor });
            return world.ids;
          },
        },
      },
      findAccount: async (id: number) => (id === 7 ? account : undefined),
      syncCertificates: async (ids: readonly number[]) => void noted.synced.push([...ids]),
      nudge() {
        noted.nudges += 1;
      },
      tell: (event: NotificationEvent) => void noted.told.push(event),
      clock: () => new Date(world.now),
      log: pino({}, { write: (line) => void logged.push((JSON.parse(line) as { msg: string }).msg) }),
    } as unknown as RevokingDeps);
    const { confirm: _, idempotencyId: __, ...asked_by } = { ...ACTOR, confirm: undefined };
    const at = (ms: number) => new Date(ms).toISOString();
    await work({
      ...{ revoking, world, noted, logged },
      rows: () =>
        db.selectFrom('revocations').select(['failures', 'next_attempt_at', 'leased_until']).execute() as never,
      begin: (reason = 'superseded') =>
        revocationStore(db).begin(
          {
            ...{ fingerprint: fingerprintOf(pair.certificate), certificate: CERTIFICATE, chain_pem: pair.certificate },
            ...{ account_id: world.accountId ?? 0, reason, asked_by, asked_at: at(START), failures: 0 },
            ...{ next_attempt_at: at(START), leased_until: '' },
          },
          { now: at(START), until: at(START + MINUTE_MS), latest: at(START + 2 * MINUTE_MS) },
        ),
      asked: () => ca.revocations.slice(before),
    });
  });

const NOW = new Date(START).toISOString();

test('what the authority revoked is noted with who asked, told, and another one is due', () =>
  given(async ({ revoking, noted, rows, asked }) => {
    const { certificate, message } = await revoking.revoke(3, 'superseded', ACTOR);
    expect(message).toBe('The authority has revoked it; another one with a new key is ordered in its place');
    expect(certificate).toMatchObject({ id: 3 });
    expect(certificate).not.toHaveProperty('used_by');
    expect(asked()).toEqual([{ reason: 4, isByAccount: true }]);
    const { idempotencyId: _, ...asked_by } = ACTOR;
    expect(noted.revoked).toEqual([{ id: 3, chain_pem: pair.certificate, reason: 'superseded', actor: asked_by }]);
    expect(noted.changes).toEqual([{ id: 3, next_attempt_at: NOW, updated_at: NOW }]);
    expect([noted.synced, noted.nudges, await rows()]).toEqual([[[3]], 1, []]);
    expect(noted.told).toEqual([
      {
        ...{ event_type: 'certificate_revoked', severity: 'warn', timestamp: NOW },
        message: 'The certificate a was revoked (superseded)',
        details: { certificate: CERTIFICATE.uuid, names: 'a.test', expires_at: CERTIFICATE.expires_at },
      },
    ]);
    const again = await revoking.revoke(3, 'cessation_of_operation', ACTOR);
    expect(again.message).toMatch(/^The authority had revoked it already; no other one is ordered, unless/);
    expect(noted.changes[1]).toEqual({ id: 3, next_attempt_at: null, ari_checked_until: null, updated_at: NOW });
  }));

test('only what an authority of an account issued is revoked, and once', () =>
  given(async ({ revoking, world, asked, noted }) => {
    const refused = (message: string | RegExp) =>
      expect(revoking.revoke(3, 'superseded', ACTOR)).rejects.toMatchObject({
        ...{ status: 409, message: expect.stringMatching(message) },
      });
    world.issuer = undefined;
    await refused(/^The certificate was uploaded/);
    world.issuer = 'internal';
    await refused(/^The internal authority can not revoke/);
    Object.assign(world, { issuer: 'acme', revokedAt: NOW });
    await refused(`The certificate was revoked already, on ${NOW}`);
    Object.assign(world, { revokedAt: null, accountId: 8 });
    await refused('The account that it was ordered with is gone');
    world.accountId = null;
    await refused('The account that it was ordered with is gone');
    world.isHere = false;
    await expect(revoking.revoke(3, 'superseded', ACTOR)).rejects.toMatchObject({ status: 404 });
    expect([asked(), noted.told]).toEqual([[], []]);
  }));

test('while one asks nobody else does; an answer that is lost is asked for later, one that is no is not', () =>
  given(async ({ revoking, world, begin, rows, noted }) => {
    await begin();
    await expect(revoking.revoke(3, 'superseded', ACTOR)).rejects.toThrow('is being asked to revoke it already');
    world.now += MINUTE_MS;
    ca.script('revoke', { status: 502, body: 'bad gateway' });
    await expect(revoking.revoke(3, 'superseded', ACTOR)).rejects.toThrow(/^The answer of the authority was lost/);
    const next_attempt_at = new Date(world.now + 5 * MINUTE_MS).toISOString();
    expect(await rows()).toEqual([{ failures: 1, next_attempt_at, leased_until: '' }]);
    ca.script('revoke', {
      ...{ status: 403, headers: { 'content-type': 'application/problem+json' } },
      body: JSON.stringify({ type: 'urn:ietf:params:acme:error:badRevocationReason', detail: 'no' }),
    });
    await expect(revoking.revoke(3, 'superseded', ACTOR)).rejects.toThrow('The authority does not revoke it: no');
    expect([await rows(), noted.revoked, noted.told]).toEqual([[], [], []]);
  }));

test('what a process left is asked for again by the next, by its own key only while that is in its place', () =>
  given(async ({ revoking, world, begin, rows, noted, asked }) => {
    await begin('key_compromise');
    world.chain = makeCertificate(['other.test']).certificate;
    world.ids = [];
    const running = await revoking.start();
    await expect.poll(rows).toEqual([]);
    await expect.poll(() => noted.told.length).toBe(1);
    await running.stop();
    expect(asked()).toEqual([{ reason: 1, isByAccount: true }]);
    // A renewal was faster: nothing is due, but it is told.
    expect([noted.changes, noted.synced, noted.nudges]).toEqual([[], [[]], 1]);
  }));

test('with its key in its place that one signs, and what can not be asked any more is left', () =>
  given(async ({ revoking, world, begin, rows, noted, asked, logged }) => {
    await begin('key_compromise');
    const first = await revoking.start();
    await expect.poll(() => noted.nudges).toBe(1);
    await first.stop();
    expect(asked()).toEqual([{ reason: 1, isByAccount: false }]);
    world.isHere = false;
    await begin('key_compromise');
    const second = await revoking.start();
    await expect.poll(() => noted.nudges).toBe(2);
    await second.stop();
    expect(asked()[1]).toEqual({ reason: 1, isByAccount: true });
    logged.length = 0;
    for (const change of [{ accountId: 8 }, { accountId: 7, now: Date.parse(CERTIFICATE.expires_at) }]) {
      Object.assign(world, change);
      await begin();
      const running = await revoking.start();
      await expect.poll(rows).toEqual([]);
      await running.stop();
    }
    expect([asked().length, noted.nudges]).toEqual([2, 2]);
    expect(logged).toEqual(Array(2).fill('whether a certificate was revoked can not be asked any more'));
  }));
