import { randomUUID } from 'node:crypto';
import type { CertificateQuery } from '@sallyport/contract';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import type { State } from '@sallyport/store/history/state';
import { rememberRevoked } from '@sallyport/store/revoked-certificates';
import { certificateKeyContext } from '@sallyport/store/secrets/contexts';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { withStore } from '../../../testing/with-store.ts';
import { newOrderRow } from '../acme/orders/service.ts';
import { orderStore } from '../acme/orders/store.ts';
import { parseCertificatePair } from './pem.ts';
import { createCertificates } from './service.ts';
import { toCertificateSource, versionOf } from './source.ts';
import { certificateStore } from './store.ts';

const ACTOR = systemActor('test');
const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-05-02T12:00:00.000Z');
const at = (day: number) => new Date(NOW + day * DAY_MS);

/** Self-signed; it begins and ends so many days from now. */
const pairOf = async (names: [string, ...string[]], ends = 30, begins = -1) => {
  const { certificate, key } = await createSelfSignedCertificate({
    names,
    validFrom: at(begins),
    validDays: ends - begins,
  });
  return parseCertificatePair(certificate, key);
};

type Given = Awaited<ReturnType<typeof given>>;

const given = async (database: Parameters<Parameters<typeof withStore>[0]>[0]) => {
  const { kysely: db, transact, transactAside } = database;
  const vault = createVault('a key of the deployment, long enough');
  const [synced, recorded, backups] = [[] as number[][], [] as ChangeEntry[], [] as string[]];
  const proxy: { state: { applied: boolean; issue: string | null; refused?: true }; failsToBackUp?: Error } = {
    state: { applied: true, issue: null },
  };
  const certificates = createCertificates({
    ...{ db, transact, transactAside, store: certificateStore, vault, clock: () => new Date(NOW) },
    plane: {
      syncCertificates: async (ids) => void synced.push([...ids]),
      certificateState: () => proxy.state,
    },
    backUp: async (reason) => {
      if (proxy.failsToBackUp) throw proxy.failsToBackUp;
      backups.push(reason);
    },
    record: async (_tx, entry) => void recorded.push(entry),
  });
  const host = async (domain: string, certificate_id: number | null = null) => {
    const flags = {
      ...{ ssl_forced: 0, http2_support: 0, hsts_enabled: 0, hsts_subdomains: 0, block_exploits: 0, enabled: 1 },
      ...{ websocket_support: 0, enable_standard_headers: 0, forward_verify_tls: 0, forward_http2: 0, waf_enabled: 0 },
    } as const;
    const { id } = await db
      .insertInto('proxy_hosts')
      .values({
        ...{ ...flags, uuid: randomUUID(), name: domain, domain, certificate_id },
        ...{ forward_scheme: 'http', forward_host: '127.0.0.1', forward_port: 80, created_at: '', updated_at: '' },
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const names = domain.split(',').map((name) => ({ name, proxy_host_id: id }));
    await db.insertInto('proxy_host_names').values(names).execute();
    return id;
  };
  const upload = async (names: [string, ...string[]], ends?: number) => {
    const pair = await pairOf(names, ends);
    return { ...(await certificates.upload({ name: names[0], pair, field: 'certificate_file' }, ACTOR)), pair };
  };
  const order = async (name: string, isAuto = false) => {
    const standIn = await certificates.makeStandIn([name]);
    return transact(async (tx) => {
      const made = await certificates.within.createPlaceholder(tx, { name, standIn, provider: 'internal' }, ACTOR);
      const how = { issuer: 'internal', key_type: 'p256' } as const;
      await orderStore(tx).insert([newOrderRow(made.id, [name], how, { isAuto, now: at(0).toISOString() })]);
      return made;
    });
  };
  const inside = <T>(work: (tx: Executor) => Promise<T>) => transact(work);
  const row = (id: number) => db.selectFrom('certificates').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const actions = () => recorded.splice(0).map(({ action }) => action);
  return { db, vault, certificates, proxy, synced, recorded, backups, host, upload, order, inside, row, actions };
};

const withCertificates = (work: (here: Given) => Promise<void>) =>
  withStore(async (database) => work(await given(database)));

test('an upload is sealed, told to the proxy, and said what is wrong with it', () =>
  withCertificates(async ({ certificates, upload, row, synced, recorded, proxy, inside }) => {
    const { id, uuid, pair, ...shown } = await upload(['a.test', 'b.test']);
    expect(shown).not.toHaveProperty('warning');
    expect(shown).toMatchObject({ domains: 'a.test,b.test', provider: 'custom', status: 'valid', applied: true });
    const stored = await row(id);
    expect(stored).toMatchObject({
      ...{ uuid, is_placeholder: 0, chain_pem: pair.chainPem, created_at: at(0).toISOString(), revoked_at: null },
      ...{ not_before: at(-1).toISOString(), expires_at: at(30).toISOString() },
    });
    expect(stored.key_sealed).not.toContain('PRIVATE KEY');
    expect(await certificates.open(id)).toMatchObject({ id, key_pem: pair.keyPem });
    expect(synced).toEqual([[id]]);
    const after = expect.objectContaining({ id, uuid, domains: 'a.test,b.test', expires_at: at(30).toISOString() });
    expect(recorded).toEqual([
      {
        ...{ action: 'certificate.upload', actor: ACTOR, resource: `certificates/${id}`, after },
        history: [{ resource: `certificates/${uuid}`, after }],
      },
    ]);
    expect(JSON.stringify(recorded)).not.toContain('PRIVATE KEY');
    proxy.state = { applied: false, issue: 'it is away' };
    const over = await pairOf(['over.test'], 0);
    await inside((tx) => rememberRevoked(tx, over.chainPem, at(-1).toISOString()));
    const { warning } = await certificates.upload({ name: 'over', pair: over, field: 'certificate_file' }, ACTOR);
    expect(warning).toBe(
      `The proxy lacks it: it is away. The certificate was revoked on ${at(-1).toISOString()}: who asks its authority refuses it. The certificate expired on ${at(0).toISOString()}`,
    );
  }));

test('a key is handed out of what is there and can be opened, and each time it is noted', () =>
  withCertificates(async ({ db, certificates, upload, order, recorded, actions }) => {
    const { id, uuid, pair } = await upload(['a.test']);
    actions();
    expect(await certificates.downloadKey(uuid, ACTOR)).toEqual({
      filename: `certificate-${id}-with-key.pem`,
      pem: `${pair.chainPem.trimEnd()}\n${pair.keyPem}`,
    });
    expect(recorded).toEqual([{ action: 'certificate.key_download', actor: ACTOR, resource: `certificates/${id}` }]);
    expect(await certificates.download(id)).toEqual({ filename: `certificate-${id}.pem`, pem: pair.chainPem });
    const { filename, bytes } = await certificates.downloadPkcs12(id, 'a password of its own', ACTOR);
    expect([filename, bytes[0]]).toEqual([`certificate-${id}.p12`, 0x30]);
    expect(actions()).toEqual(['certificate.key_download', 'certificate.key_download']);

    const ordered = await order('ordered.test');
    actions();
    for (const refused of [
      certificates.download(ordered.id),
      certificates.downloadKey(ordered.id, ACTOR),
      certificates.open(ordered.id),
    ]) {
      await expect(refused).rejects.toMatchObject({ status: 409, message: expect.stringContaining('ordered') });
    }
    await expect(certificates.download(999)).rejects.toMatchObject({ status: 404 });
    // Sealed under a key that is lost.
    const key_sealed = createVault('another key of a deployment, as long').seal('x', 'y');
    await db.updateTable('certificates').set({ key_sealed }).where('id', '=', id).execute();
    await expect(certificates.downloadKey(id, ACTOR)).rejects.toMatchObject({ status: 409 });
    expect((await certificates.download(id)).pem).toBe(pair.chainPem);
    expect(actions()).toEqual([]);
  }));

test('what a host uses, named or chosen for it, is not deleted; the rest is, after a backup, with its key in the history', () =>
  withCertificates(async ({ certificates, upload, host, proxy, synced, recorded, backups, row, actions }) => {
    const [named, chosen, spare] = [await upload(['n.test']), await upload(['*.c.test'], 40), await upload(['c.test'])];
    const hosts = [await host('other.test', named.id), await host('d.c.test'), await host('a.c.test,b.c.test')];
    await host('a.b.c.test');
    expect((await certificates.get(named.id)).used_by.map(({ id }) => id)).toEqual([hosts[0]]);
    expect(await certificates.get(chosen.id)).toMatchObject({
      ...{ used_by: [{ id: hosts[1] }, { id: hosts[2] }], used_by_total: 2 },
    });
    expect((await certificates.list({} as CertificateQuery)).rows.map((one) => [one.id, one.used_by_total])).toEqual([
      [named.id, 1],
      [chosen.id, 2],
      [spare.id, 0],
    ]);
    // Sorted by what may be sorted by.
    const sorted = async (sort: string) =>
      (await certificates.list({ sort, order: 'desc' } as CertificateQuery)).rows.map(({ id }) => id);
    expect(await sorted('name')).toEqual([named.id, spare.id, chosen.id]);
    expect(await sorted('expires_at')).toMatchObject([chosen.id, expect.any(Number), expect.any(Number)]);
    synced.splice(0);
    actions();
    for (const { id } of [named, chosen]) {
      await expect(certificates.remove(id, ACTOR)).rejects.toMatchObject({ status: 409 });
    }
    await expect(certificates.remove(999, ACTOR)).rejects.toMatchObject({ status: 404 });
    expect([backups, actions()]).toEqual([[], []]);
    // Without a backup nothing is deleted, and why is not told to who asked.
    proxy.failsToBackUp = new Error('the disk is full');
    await expect(certificates.remove(spare.id, ACTOR)).rejects.toMatchObject({
      ...{ status: 500, message: 'failed to delete certificate', cause: proxy.failsToBackUp },
    });
    expect(await row(spare.id)).toMatchObject({ uuid: spare.uuid });
    delete proxy.failsToBackUp;
    await expect(
      certificates.remove(spare.id, ACTOR, () => {
        throw new Error('another version');
      }),
    ).rejects.toThrow('another version');
    expect([backups, synced, actions()]).toEqual([[], [], []]);
    await certificates.remove(spare.uuid, ACTOR);
    expect([backups, synced]).toEqual([['before-certificate-delete'], [[spare.id]]]);
    await expect(row(spare.id)).rejects.toThrow();
    expect(recorded).toMatchObject([
      {
        ...{ action: 'certificate.delete', resource: `certificates/${spare.id}`, before: { uuid: spare.uuid } },
        history: [
          { resource: `certificates/${spare.uuid}`, before: { key_pem: spare.pair.keyPem }, secret: ['key_pem'] },
        ],
      },
    ]);
    expect(JSON.stringify(recorded[0]?.before)).not.toContain('PRIVATE KEY');
  }));

test('one that came in while the backup was made is seen: a host that uses it by then keeps it', () =>
  withStore(async (database) => {
    const here = await given(database);
    const { id } = await here.upload(['late.test']);
    const certificates = createCertificates({
      ...{ ...database, db: here.db, store: certificateStore, vault: here.vault, clock: () => new Date(NOW) },
      plane: { syncCertificates: async () => {}, certificateState: () => here.proxy.state },
      backUp: () => here.host('late.test'),
      record: async () => {},
    });
    await expect(certificates.remove(id, ACTOR)).rejects.toMatchObject({ status: 409 });
    expect(await here.row(id)).toMatchObject({ id });
  }));

test('a replacement keeps the row, ends the order, and says what hosts lose; one that HAProxy refuses leaves all as it was', () =>
  withCertificates(async ({ db, certificates, order, host, proxy, synced, row, actions, recorded, inside }) => {
    const { id, uuid, chain_pem } = await order('a.test');
    const ordersOf = () => db.selectFrom('certificate_orders').selectAll().where('certificate_id', '=', id).execute();
    const [order1] = await ordersOf();
    await host('a.test', id);
    for (const name of ['sub.elsewhere.test', 'x.elsewhere.test']) await host(name, id);
    const before = await row(id);
    const [pair, elsewhere] = [
      await pairOf(['a.test', 'b.test']),
      await pairOf(['elsewhere.test', '*.elsewhere.test']),
    ];
    const gives = (one: typeof pair, name?: string) =>
      certificates.replace(id, { name, given: { pair: one, field: 'certificate_file' } }, ACTOR);
    actions();

    proxy.state = { applied: false, issue: 'no such curve', refused: true };
    await expect(gives(pair)).rejects.toMatchObject({
      status: 400,
      message: 'certificate_file was not taken by the proxy; the former certificate stays',
      details: 'no such curve',
    });
    expect([await row(id), await ordersOf(), synced]).toEqual([before, [order1], [[id], [id]]]);
    expect(actions()).toEqual(['certificate.replace', 'certificate.replace']);

    // That the proxy is away is no refusal.
    proxy.state = { applied: false, issue: 'it is away' };
    const replaced = await gives(elsewhere, 'mine');
    expect(replaced).toMatchObject({
      id,
      uuid,
      name: 'mine',
      provider: 'custom',
      domains: 'elsewhere.test,*.elsewhere.test',
    });
    expect(replaced.warnings.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'domains: it does not cover a.test any more, which proxy hosts use',
      'domains: no other certificate covers a.test',
      'provider: it was ordered and is a custom one now: nobody renews it any more',
    ]);
    expect(await ordersOf()).toEqual([]);
    const resource = `certificates/${id}`;
    expect(recorded).toMatchObject([
      { action: 'certificate.replace', actor: ACTOR, resource, before: { name: 'a.test' }, after: { name: 'mine' } },
    ]);
    expect(recorded[0]?.history).toMatchObject([
      {
        ...{ resource: `certificates/${uuid}`, secret: ['key_pem'] },
        ...{ before: { chain_pem }, after: { chain_pem: elsewhere.chainPem } },
      },
    ]);
    const taken = recorded.splice(0)[0]?.history?.[0]?.before as State;
    await expect(inside((tx) => certificates.within.takeBack(tx, id, taken, ACTOR))).rejects.toMatchObject({
      status: 409,
      message: 'There was no certificate before: it had only been ordered',
    });

    const some = await gives(await pairOf(['a.test', 'sub.elsewhere.test']));
    expect(some.warnings.map(({ message }) => message)).toEqual([
      'it does not cover x.elsewhere.test any more, which proxy hosts use',
      'no other certificate covers x.elsewhere.test',
    ]);
    expect((await gives(await pairOf(['*.test', '*.elsewhere.test']))).warnings).toEqual([]);
    const { name } = await row(id);
    const renamed = await certificates.replace(id, { name: 'yours', given: undefined }, ACTOR);
    expect([name, renamed.name, renamed.warnings]).toEqual(['mine', 'yours', []]);
    expect(actions()).toEqual(['certificate.replace', 'certificate.replace', 'certificate.rename']);
    // Neither another name nor another certificate: nothing happens.
    expect(await certificates.replace(id, { name: undefined, given: undefined }, ACTOR)).toMatchObject({ id });
    await expect(
      certificates.replace(id, { name: 'theirs', given: undefined }, ACTOR, () => {
        throw new Error('another version');
      }),
    ).rejects.toThrow('another version');
    expect([(await row(id)).name, actions()]).toEqual(['yours', []]);
  }));

test('a replacement that was refused is not undone over what somebody else has put there meanwhile', () =>
  withStore(async (database) => {
    const here = await given(database);
    const { id } = await here.upload(['a.test']);
    const [pair, later] = [await pairOf(['a.test']), await pairOf(['a.test'])];
    let syncs = 0;
    const certificates = createCertificates({
      ...{ ...database, db: here.db, store: certificateStore, vault: here.vault, clock: () => new Date(NOW) },
      plane: {
        syncCertificates: async () => {
          syncs += 1;
          await here.certificates.replace(id, { name: undefined, given: { pair: later, field: 'x' } }, ACTOR);
        },
        certificateState: () => ({ applied: false, issue: null, refused: true }),
      },
      backUp: async () => {},
      record: async () => {},
    });
    const replaced = certificates.replace(id, { name: undefined, given: { pair, field: 'key_file' } }, ACTOR);
    await expect(replaced).rejects.toMatchObject({ status: 400, details: undefined });
    expect([syncs, (await here.row(id)).chain_pem]).toEqual([1, later.chainPem]);
  }));

test('what is taken back is what was kept, with its key; never one that was revoked since', () =>
  withCertificates(async ({ db, vault, certificates, upload, row, inside, actions }) => {
    const { id, uuid, pair } = await upload(['a.test']);
    const before = (await inside((tx) => certificates.within.current(tx, uuid))) as State;
    expect(before).toMatchObject({ id, key_pem: pair.keyPem, chain_pem: pair.chainPem });
    expect(before).not.toHaveProperty('key_sealed');
    expect(await inside((tx) => certificates.within.current(tx, 999))).toBeUndefined();
    const next = await pairOf(['b.test']);
    await certificates.replace(id, { name: undefined, given: { pair: next, field: 'x' } }, ACTOR);
    actions();
    const takeBack = (fields: State) => inside((tx) => certificates.within.takeBack(tx, id, fields, ACTOR));
    const { chain_pem, key_pem } = before as { chain_pem: string; key_pem: string };
    await expect(takeBack({ expires_at: at(3).toISOString() })).rejects.toMatchObject({
      ...{ status: 409, message: expect.stringContaining('What a renewal replaced is not kept') },
    });
    await expect(takeBack({ chain_pem, key_pem: null })).rejects.toMatchObject({
      ...{ status: 409, message: expect.stringContaining('Its private key was not kept') },
    });
    // Of a certificate whose key stayed the same only the chain is kept; here the key is another one.
    await expect(takeBack({ chain_pem })).rejects.toMatchObject({ status: 400 });
    expect((await takeBack({ chain_pem, key_pem })).chain_pem).toBe(chain_pem);
    expect(vault.open((await row(id)).key_sealed, certificateKeyContext(uuid))).toBe(key_pem);
    expect((await takeBack({ name: 'as before' })).name).toBe('as before');
    expect(actions()).toEqual(['certificate.replace', 'certificate.rename']);

    await certificates.replace(id, { name: undefined, given: { pair: next, field: 'x' } }, ACTOR);
    await inside((tx) => rememberRevoked(tx, chain_pem, at(0).toISOString()));
    await expect(takeBack({ chain_pem, key_pem })).rejects.toMatchObject({
      ...{ status: 409, message: expect.stringContaining('was revoked') },
    });
    expect((await row(id)).chain_pem).toBe(next.chainPem);
    const created = await db.selectFrom('certificates').select('id').execute();
    expect(created).toHaveLength(1);
  }));

test('that one was revoked is noted of all that are there of it, and comes and goes with the chain', () =>
  withCertificates(async ({ certificates, upload, row, order, inside, recorded, actions }) => {
    const { id, pair } = await upload(['a.test']);
    const copy = await certificates.upload({ name: 'copy', pair, field: 'certificate_file' }, ACTOR);
    const other = await upload(['a.test']);
    const before = await row(id);
    actions();
    expect(await inside((tx) => certificates.within.noteRevoked(tx, before, 'keyCompromise', ACTOR))).toEqual([
      id,
      copy.id,
    ]);
    expect(recorded).toMatchObject([
      {
        ...{ action: 'certificate.revoke', actor: ACTOR, resource: `certificates/${id}` },
        after: {
          ...{ id, expires_at: before.expires_at, reason: 'keyCompromise' },
          ...{ serial: expect.stringMatching(/^[0-9A-F]+$/), sha256: expect.stringMatching(/^(?:[0-9A-F]{2}:){31}/) },
        },
      },
    ]);
    expect((await row(other.id)).revoked_at).toBeNull();
    const statuses = async (query: Partial<CertificateQuery>) =>
      (await certificates.list(query as CertificateQuery)).rows.map((one) => one.id);
    expect(await statuses({ status: 'revoked' })).toEqual([id, copy.id]);
    expect(await statuses({ status: 'valid' })).toEqual([other.id]);
    const next = await pairOf(['a.test']);
    const replaced = await certificates.replace(id, { name: undefined, given: { pair: next, field: 'x' } }, ACTOR);
    expect(replaced).toMatchObject({ status: 'valid', revoked_at: null });
    // Again the one that was revoked, under whatever name: it stays so.
    const again = await certificates.replace(id, { name: undefined, given: { pair, field: 'x' } }, ACTOR);
    expect(again).toMatchObject({ status: 'revoked', revoked_at: at(0).toISOString() });
    expect(again.warnings.map(({ message }) => message)).toEqual([expect.stringContaining('was revoked')]);

    const [pending, failed] = [await order('pending.test'), await order('failed.test')];
    await inside((tx) =>
      tx.updateTable('certificate_orders').set({ issue: 'no' }).where('certificate_id', '=', failed.id).execute(),
    );
    const { id: _, ...standIn } = await row(pending.id);
    const bare = await inside((tx) => certificateStore(tx).insert({ ...standIn, uuid: randomUUID() }));
    expect(await statuses({ status: 'pending' })).toEqual([pending.id]);
    expect(await statuses({ status: 'failed' })).toEqual([failed.id, bare.id]);
    expect(await statuses({ status: 'valid' })).toEqual([other.id]);
    expect(await statuses({ provider: 'internal' })).toEqual([pending.id, failed.id, bare.id]);
    expect(await statuses({ search: 'PENDING' })).toEqual([pending.id, bare.id]);
    expect(await statuses({ expires_before: at(30).toISOString() })).toEqual([]);
    expect(await statuses({ expires_before: at(31).toISOString() })).toEqual([id, copy.id, other.id]);
    const texts = [pair.chainPem, next.chainPem, standIn.chain_pem];
    const store = certificateStore;
    await inside(async (tx) => {
      expect([...(await store(tx).idsByChain(texts)).keys()]).toEqual([pair.chainPem]);
      expect((await store(tx).expiringAt([before.expires_at])).map((one) => one.id)).toEqual([id, copy.id, other.id]);
      expect(await store(tx).expiringAt([standIn.expires_at])).toEqual([]);
      expect((await store(tx).names()).map((one) => one.id)).toEqual([id, copy.id, other.id]);
      expect((await store(tx).findByIds([other.id])).map((one) => one.id)).toEqual([other.id]);
    });
  }));

test('what an authority gave is taken while it is ordered, when it names all that was and has not ended', () =>
  withCertificates(async ({ db, certificates, order, row, inside, recorded, actions }) => {
    const { id, uuid, chain_pem } = await order('a.test');
    expect(recorded.at(-1)).toMatchObject({ action: 'certificate.order', history: [{ after: { name: 'a.test' } }] });
    expect(recorded.at(-1)?.after).not.toHaveProperty('expires_at');
    actions();
    const issue = async (names: [string, ...string[]], ends?: number) => {
      const pair = await pairOf(names, ends);
      return inside((tx) => certificates.within.replace(tx, id, pair, ACTOR));
    };
    await expect(issue(['b.test'])).rejects.toMatchObject({ status: 400, message: expect.stringContaining('a.test') });
    // It ends now, and what ends now is over.
    await expect(issue(['a.test'], 0)).rejects.toMatchObject({ status: 400 });
    expect([await row(id), actions()]).toMatchObject([{ chain_pem, is_placeholder: 1 }, []]);
    const issued = await issue(['a.test', 'b.test']);
    expect(issued).toMatchObject({ name: 'a.test', provider: 'internal', domains: 'a.test,b.test', is_placeholder: 0 });
    await issue(['*.test', 'a.test'], 60);
    expect(recorded).toMatchObject([
      { action: 'certificate.issue', actor: ACTOR, history: [{ before: { domains: 'a.test' } }] },
      {
        ...{ action: 'certificate.renew', actor: ACTOR, resource: `certificates/${id}` },
        ...{ before: { expires_at: at(30).toISOString() }, after: { expires_at: at(60).toISOString() } },
        history: [
          { resource: `certificates/${uuid}`, before: { domains: 'a.test,b.test', expires_at: at(30).toISOString() } },
        ],
      },
    ]);
    expect(recorded[0]?.history?.[0]?.before).not.toHaveProperty('expires_at');
    expect(JSON.stringify(recorded)).not.toContain('-----BEGIN');
    await db.deleteFrom('certificate_orders').execute();
    await expect(issue(['a.test'])).rejects.toMatchObject({ status: 409 });
    await expect(inside((tx) => certificates.within.remove(tx, 999, ACTOR))).rejects.toMatchObject({ status: 404 });
    expect(await inside((tx) => certificates.within.remove(tx, id, ACTOR))).toMatchObject({ id, uuid });
    expect(await db.selectFrom('certificates').select('id').execute()).toEqual([]);
  }));

test('hosts of a certificate with very many names are found as those of a few', () =>
  withCertificates(async ({ host, inside }) => {
    const [one, below] = [await host('a.test'), await host('x.w.test')];
    await host('other.test');
    const left = (names: string[]) =>
      inside(async (tx) => (await certificateStore(tx).namesLeftToUs(names)).map(({ id }) => id));
    expect(await left(['a.test', '*.w.test'])).toEqual([one, below]);
    const some = (total: number, prefix = '') => Array.from({ length: total }, (_, index) => `${prefix}${index}.none`);
    expect(await left(['a.test', ...some(999)])).toEqual([one]);
    expect(await left(['a.test', ...some(1_000)])).toHaveLength(3);
    expect(await left(['*.w.test', ...some(19, '*.')])).toEqual([below]);
    expect(await left(['*.w.test', ...some(20, '*.')])).toHaveLength(3);
  }));

test('what the data plane holds has its key, and no name while it only stands in; its version changes with the chain, and when it is revoked', () =>
  withCertificates(async ({ vault, upload, order, row }) => {
    const { id, pair } = await upload(['a.test', 'b.test']);
    const [stored, other] = [await row(id), await order('a.test')];
    const revoked_at = at(0).toISOString();
    const versions = [versionOf(stored), versionOf(other), versionOf({ ...stored, revoked_at })];
    expect(new Set(versions).size).toBe(3);
    const { open, ...source } = toCertificateSource(stored, vault);
    expect(source).toEqual({ id, version: versions[0] });
    const text = `${pair.chainPem.trimEnd()}\n${pair.keyPem}`;
    expect(open()).toEqual({ id, pem: text, names: ['a.test', 'b.test'], notAfter: at(30).getTime() });
    expect(toCertificateSource(other, vault).open().names).toEqual([]);
    expect(() => toCertificateSource({ ...stored, key_sealed: other.key_sealed }, vault).open()).toThrow();
  }));
