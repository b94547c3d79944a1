import { X509Certificate } from 'node:crypto';
import type {
  AuditEntry,
  Backup,
  Certificate,
  CertificateImport,
  ErrorBody,
  HistoryEntry,
  ProxyHost,
  ReplacedCertificate,
  RevokedCertificate,
  UploadedCertificate,
} from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../../test/support/certificates.ts';
import { makePkcs12 } from '../../../../../../../test/support/pkcs12.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { createGiven, PASSWORD } from '../../../../testing/given-accounts.ts';
import { hasEnded, order, prepare, read, SOON_MS, settled } from '../../../../testing/given-orders.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../../testing/start-app.ts';
import { type ScriptedCa, startScriptedCa } from '../../../../testing/start-scripted-ca.ts';

const CEASED = { reason: 'cessation_of_operation' };

onBothDatabases('certificates that are revoked', (kind) => {
  let ca: ScriptedCa;
  let app: TestApp;
  let provider: number;
  let headers: Record<string, string>;
  let ahead = 0;
  beforeAll(async () => {
    ca = await startScriptedCa();
    app = await startApp(kind, {}, { clock: () => new Date(Date.now() + ahead) });
    provider = await prepare(app, ca);
    ({ headers } = await createGiven(app).signIn('admin@example.com'));
  });
  afterAll(async () => {
    await app?.stop();
    await ca?.stop();
  });

  const send = <T>(method: string, path: string, body?: unknown) => app.send<T>(method, path, body);
  const ordered = async (name: string) => {
    const id = await order(app, provider, [name]);
    await settled(app, id, (one) => one.status === 'valid' && hasEnded(one));
    return id;
  };
  const revoke = (id: number, body: object = CEASED) =>
    send<RevokedCertificate & ErrorBody>('POST', `/certificates/${id}/revoke`, body);
  const pairOf = async (id: number) => {
    const path = `/certificates/${id}/download`;
    const { body } = await app.send<string>('POST', path, { password: PASSWORD }, headers);
    const [certificate = '', key = ''] = body.split(/(?=-----BEGIN [A-Z ]*PRIVATE KEY)/);
    return { certificate, key };
  };
  const inStore = async (statement: string) => {
    const database = openDatabase(app.config);
    await sql.raw(statement).execute(database.kysely);
    await database.stop();
  };
  const wasRevoked = expect.stringMatching(/^The certificate was revoked on /);

  test('are known when they come again: uploaded, as PKCS #12, imported, put in the place of another, taken back, restored', async () => {
    const id = await ordered('again.test');
    const pair = await pairOf(id);
    // One that is here twice is revoked twice.
    const { body: twin } = await send<Certificate>('POST', '/certificates/upload', uploadForm('twin', pair));
    expect(await read(app, twin.id)).toMatchObject({ status: 'valid', revoked_at: null });
    const { body: backup } = await app.send<Backup>('POST', '/backups', {}, headers);
    const { body: before } = await revoke(id);
    const revokedAt = before.certificate.revoked_at;
    expect(revokedAt).not.toBeNull();
    expect(await read(app, twin.id)).toMatchObject({ status: 'revoked', revoked_at: revokedAt, issue: wasRevoked });
    expect((await send('DELETE', `/certificates/${twin.id}`)).status).toBe(200);
    expect((await send('DELETE', `/certificates/${id}`)).status).toBe(200);

    const isRevoked = { status: 'revoked', revoked_at: revokedAt, issue: wasRevoked };
    const { status, body: uploaded } = await send<UploadedCertificate>(
      'POST',
      '/certificates/upload',
      uploadForm('again', pair),
    );
    expect(status).toBe(201);
    expect(await read(app, uploaded.id)).toMatchObject(isRevoked);
    expect(uploaded.warning).toContain('The certificate was revoked on');
    const host = { domain: 'again.test', forward_host: '127.0.0.1', forward_port: 9, certificate_id: uploaded.id };
    const { body: user } = await send<ProxyHost>('POST', '/proxy-hosts', host);
    expect(user.warnings).toContainEqual(
      expect.objectContaining({ field: 'certificate_id', message: expect.stringMatching(/was revoked on/) }),
    );
    await send('DELETE', `/proxy-hosts/${user.uuid}`);
    await send('DELETE', `/certificates/${uploaded.id}`);

    const pkcs12 = new FormData();
    pkcs12.set('name', 'again');
    pkcs12.set('pkcs12_file', new Blob([makePkcs12(pair)]), 'again.p12');
    const { body: fromPkcs12 } = await send<UploadedCertificate>('POST', '/certificates/upload', pkcs12);
    expect(fromPkcs12.warning).toContain('The certificate was revoked on');
    expect(await read(app, fromPkcs12.id)).toMatchObject(isRevoked);
    await send('DELETE', `/certificates/${fromPkcs12.id}`);

    const files = new FormData();
    files.set('file', new Blob([pair.certificate, pair.key]), 'live/again/all.pem');
    const { body: imported } = await send<CertificateImport>('POST', '/certificates/import', files);
    expect(imported.files).toEqual([
      expect.objectContaining({
        outcome: 'imported',
        message: expect.stringMatching(/\. The certificate was revoked/),
      }),
    ]);
    const importedId = imported.files[0]?.certificate_id;
    await send('DELETE', `/certificates/${importedId}`);

    const { body: other } = await send<Certificate>(
      'POST',
      '/certificates/upload',
      uploadForm('other', makeCertificate(['again.test'])),
    );
    const replaced = await send<ReplacedCertificate>('PUT', `/certificates/${other.id}`, uploadForm('other', pair));
    expect(replaced.body).toMatchObject(isRevoked);
    expect(replaced.body.warnings).toContainEqual({ field: 'domains', message: wasRevoked });
    await send('PUT', `/certificates/${other.id}`, uploadForm('other', makeCertificate(['again.test'])));
    const { body: changes } = await send<HistoryEntry[]>('GET', `/certificates/${other.uuid}/history`);
    const undone = await app.send<ErrorBody>('POST', `/history/${changes[0]?.id}/revert`, {}, headers);
    expect(undone).toMatchObject({ status: 409, body: { details: expect.stringMatching(/of before was revoked/) } });
    await send('DELETE', `/certificates/${other.id}`);

    // A backup of before the revocation.
    const restored = await app.send('POST', `/backups/${backup.name}/restore`, {}, headers);
    expect(restored.status).toBe(200);
    expect(await read(app, twin.id)).toMatchObject(isRevoked);
    // What is kept by an order is had anew.
    const anew = await settled(app, id, (one) => one.status === 'valid' && hasEnded(one));
    expect(anew).toMatchObject({ revoked_at: null });
    expect(ca.revocations).toHaveLength(1);
  });

  test('by the authority, and not noted here since the store was away, are noted later, once, with who asked', async () => {
    const id = await ordered('unnoted.test');
    const asked = ca.revocations.length;
    await inStore('alter table revoked_certificates rename to away');
    const body = { ...CEASED, password: PASSWORD };
    const failed = await app.send('POST', `/certificates/${id}/revoke`, body, headers);
    expect(failed.status).toBe(500);
    expect(ca.revocations).toHaveLength(asked + 1);
    expect(await read(app, id)).toMatchObject({
      status: 'valid',
      issue: expect.stringMatching(/^Its authority was asked to revoke it on .*its answer is not known/),
    });
    // As long as the one who asked may still hear of it, nobody asks for the same.
    expect(await revoke(id)).toMatchObject({ status: 409, body: { error: expect.stringMatching(/being asked/) } });
    await inStore('alter table away rename to revoked_certificates');
    if (kind === 'sqlite') await app.restart();
    else ahead += 61_000;
    expect(await settled(app, id, (one) => one.status === 'revoked')).toMatchObject({
      issue: expect.not.stringMatching(/is not known/),
      next_attempt_at: null,
    });
    expect(ca.revocations).toHaveLength(asked + 2);
    const { headers: anew } = await createGiven(app).signIn('admin@example.com');
    const { body: entries } = await app.send<AuditEntry[]>('GET', '/audit-logs?limit=50', undefined, anew);
    const { body: chain } = await send<string>('GET', `/certificates/${id}/download`);
    const { fingerprint256 } = new X509Certificate(chain);
    const told = entries.filter(({ details }) => JSON.stringify(details).includes(fingerprint256));
    expect(told).toMatchObject([{ action: 'certificate.revoke', actor: 'admin@example.com' }]);
  });

  test('or not, which nobody knows since the answer was lost, are asked for again until that is known', async () => {
    const id = await ordered('lost.test');
    const asked = ca.revocations.length;
    ca.script('revoke', { headers: { 'content-type': 'text/html' }, body: '<h1>It works!</h1>' });
    expect(await revoke(id)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/^The answer of the authority was lost: it is asked again until/) },
    });
    expect((await read(app, id)).issue).toMatch(/^Its authority was asked to revoke it/);
    ca.script('revoke', undefined);
    ahead += 10 * 60_000;
    await settled(app, id, (one) => one.status === 'revoked');
    expect(ca.revocations).toHaveLength(asked + 2);

    // One that is replaced meanwhile is revoked all the same.
    const other = await ordered('replaced.test');
    const { body: certificate } = await send<string>('GET', `/certificates/${other}/download`);
    ca.script('revoke', { status: 502, body: 'bad gateway' });
    expect((await revoke(other)).body.error).toMatch(/answer of the authority was lost/);
    await send('PUT', `/certificates/${other}`, uploadForm('replaced', makeCertificate(['replaced.test'])));
    ca.script('revoke', undefined);
    ahead += 10 * 60_000;
    const database = openDatabase(app.config);
    const known = await until(
      'it is known as revoked',
      async () => {
        const { fingerprint256 } = new X509Certificate(certificate);
        const rows = await database.kysely.selectFrom('revoked_certificates').select('fingerprint').execute();
        return rows.some(({ fingerprint }) => fingerprint === fingerprint256) || undefined;
      },
      SOON_MS,
    ).finally(() => database.stop());
    expect(known).toBe(true);
    expect(await read(app, other)).toMatchObject({ status: 'valid', revoked_at: null });
  });

  test('by nobody, since the authority refused or was never reached, stay as they are, and are not asked for again', async () => {
    const id = await ordered('refused.test');
    const asked = ca.revocations.length;
    ca.script('directory', { status: 503, body: '' });
    expect((await revoke(id)).body.error).toBe('The authority could not be reached: nothing was revoked');
    ca.script('directory', undefined);
    const problem = { type: 'urn:ietf:params:acme:error:badRevocationReason', detail: 'not for that reason' };
    const said = { status: 403, headers: { 'content-type': 'application/problem+json' } };
    ca.script('revoke', { ...said, body: JSON.stringify(problem) });
    expect((await revoke(id)).body.error).toBe('The authority does not revoke it: not for that reason');
    ca.script('revoke', undefined);
    const database = openDatabase(app.config);
    const left = await database.kysely.selectFrom('revocations').selectAll().execute();
    await database.stop();
    expect(left).toEqual([]);
    expect(await read(app, id)).toMatchObject({ status: 'valid', issue: expect.not.stringMatching(/revoke/) });
    expect(ca.revocations).toHaveLength(asked + 1);
  });

  test('at once by two who ask are asked for once', async () => {
    const id = await ordered('twice.test');
    const asked = ca.revocations.length;
    const held = Promise.withResolvers<void>();
    ca.script('revoke', held.promise);
    const first = revoke(id);
    await until('it is asked', () => ca.waiting('revoke') === 1 || undefined, SOON_MS);
    expect(await revoke(id)).toMatchObject({ status: 409, body: { error: expect.stringMatching(/being asked/) } });
    held.resolve();
    expect((await first).status).toBe(200);
    ca.script('revoke', undefined);
    expect(ca.revocations).toHaveLength(asked + 1);
  });
});
