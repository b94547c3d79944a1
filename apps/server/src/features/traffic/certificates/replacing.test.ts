import type { Certificate, ErrorBody, HistoryEntry } from '@sallyport/contract';
import { systemActor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { createHistory, oneByOne } from '@sallyport/store/history/record';
import { openVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../../../test/support/certificates.ts';
import { givenHistory } from '../../../testing/given-history.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';
import { createCertificates } from './service.ts';
import { certificateStore } from './store.ts';

const ENGINE = systemActor('certificate renewal');

onBothDatabases('what is ordered', (kind) => {
  const { here, send, call } = givenHistory(kind);

  /** What the order engine has of certificates, beside a running service. */
  const engine = () => {
    const { database, app } = here();
    const vault = openVault(app.config);
    const clock = () => new Date();
    const certificates = createCertificates({
      db: database.kysely,
      transact: database.transact,
      transactAside: database.transactAside,
      store: certificateStore,
      vault,
      plane: { syncCertificates: async () => {}, certificateState: () => ({ applied: false, issue: null }) },
      backUp: async () => {},
      record: oneByOne(createHistory({ vault, clock })),
      clock,
    });
    const order = async (names: string[]) => {
      const standIn = await certificates.makeStandIn(names);
      const row = await database.transact(async (tx) => {
        const made = await certificates.within.createPlaceholder(
          tx,
          { name: 'ordered', standIn, provider: 'letsencrypt' },
          ENGINE,
        );
        await orderOf(tx, made.id, names);
        return made;
      });
      return row;
    };
    const replace = (id: number, { certificate, key }: ReturnType<typeof makeCertificate>) =>
      database.transact((tx) => certificates.within.replace(tx, id, { chainPem: certificate, keyPem: key }, ENGINE));
    return { order, replace };
  };

  const orderOf = (tx: Executor, certificate_id: number, names: string[]) =>
    tx
      .insertInto('certificate_orders')
      .values({
        certificate_id,
        issuer: 'acme',
        key_type: 'p256',
        challenge: 'http-01',
        names: names.join(','),
        is_auto: 0,
        steps: '[]',
        failures: 0,
        leased_by: '',
        leased_until: '',
        created_at: '',
        updated_at: '',
      })
      .execute();

  test('a self-signed certificate of its names stands in until it is there', async () => {
    const { order, replace } = engine();
    const names = ['one.example.com', '*.example.com', '192.0.2.7', '2001:db8::7'];
    const { id, uuid } = await order(names);
    expect(await call<Certificate>('GET', `/certificates/${id}`)).toMatchObject({
      name: 'ordered',
      provider: 'letsencrypt',
      domains: names.join(','),
      status: 'pending',
      expires_at: null,
      applied: false,
    });
    await replace(id, makeCertificate(['one.example.com', '*.example.com', '192.0.2.7', '2001:db8::7']));
    const issued = await call<Certificate>('GET', `/certificates/${id}`);
    expect(issued).toMatchObject({ uuid, status: 'valid', domains: names.join(',') });
    expect(Date.parse(issued.expires_at ?? '')).toBeGreaterThan(Date.now());
    const history = await call<HistoryEntry[]>('GET', `/certificates/${id}/history`);
    expect(history.map(({ action, actor }) => [action, actor])).toEqual([
      ['certificate.issue', 'certificate renewal'],
      ['certificate.order', 'certificate renewal'],
    ]);
  });

  test('a renewal leaves no key in the history, and says so to who would take it back', async () => {
    const { order, replace } = engine();
    const { id, uuid } = await order(['one.example.com']);
    await replace(id, makeCertificate(['one.example.com']));
    await replace(id, makeCertificate(['one.example.com'], { days: 60 }));
    const [renewal] = await call<HistoryEntry[]>('GET', `/history?resource=certificates/${uuid}`);
    expect(renewal).toMatchObject({ action: 'certificate.renew' });
    const fields = renewal?.changes.map(({ field }) => field);
    expect(fields).toContain('expires_at');
    expect(fields).not.toContain('chain_pem');
    const row = await here()
      .database.kysely.selectFrom('history')
      .select(['bytes', 'secrets_sealed'])
      .where('id', '=', renewal?.id ?? 0)
      .executeTakeFirstOrThrow();
    expect(row.secrets_sealed).toBeNull();
    expect(row.bytes).toBeLessThan(600);
    const refused = await send<ErrorBody>('POST', `/history/${renewal?.id}/revert`);
    expect(refused.status).toBe(409);
    expect(refused.body.details).toContain('What a renewal replaced is not kept');
  });

  test.each([
    [
      'a pair that does not fit',
      () => ({ ...makeCertificate(['a.example']), key: makeCertificate(['b.example']).key }),
    ],
    ['one that names less than was ordered', () => makeCertificate(['one.example.com'])],
    ['one that has expired', () => makeCertificate(['one.example.com', 'two.example.com'], { days: -1 })],
  ])('refuses %s, and keeps what was there', async (_what, make) => {
    const { order, replace } = engine();
    const { id, chain_pem } = await order(['one.example.com', 'two.example.com']);
    await expect(replace(id, make())).rejects.toMatchObject({ status: 400 });
    const kept = await here().database.kysely.selectFrom('certificates').selectAll().executeTakeFirstOrThrow();
    expect(kept).toMatchObject({ id, chain_pem, is_placeholder: 1 });
  });

  test('refuses what comes for a certificate that is not ordered any more', async () => {
    const { order, replace } = engine();
    const { id } = await order(['one.example.com']);
    await here().database.kysely.deleteFrom('certificate_orders').execute();
    await expect(replace(id, makeCertificate(['one.example.com']))).rejects.toMatchObject({ status: 409 });
    expect(await call<Certificate>('GET', `/certificates/${id}`)).toMatchObject({ status: 'failed' });
  });
});
