import { createPrivateKey, X509Certificate } from 'node:crypto';
import type {
  AuditEntry,
  Certificate,
  CertificateInUse,
  ErrorBody,
  HistoryEntry,
  ListedCertificate,
  ProxyHost,
  ReplacedCertificate,
} from '@sallyport/contract';
import { expect, test } from 'vitest';
import { makeCertificate, type TestCertificate, uploadForm } from '../../../../../../test/support/certificates.ts';
import { openPkcs12 } from '../../../../../../test/support/pkcs12.ts';
import { PASSWORD } from '../../../testing/given-accounts.ts';
import { givenHistory } from '../../../testing/given-history.ts';
import { onBothDatabases } from '../../../testing/start-app.ts';

const replacement = ({ certificate, key }: TestCertificate, name?: string): FormData => {
  const form = uploadForm(name ?? '', { certificate, key });
  if (name === undefined) form.delete('name');
  return form;
};

const renaming = (name: string): FormData => {
  const form = new FormData();
  form.set('name', name);
  return form;
};

onBothDatabases('a certificate that is there', (kind) => {
  const { here, send, call } = givenHistory(kind);
  const upload = (name: string, pair: TestCertificate) =>
    call<Certificate>('POST', '/certificates/upload', uploadForm(name, pair));
  const host = (domain: string, fields: object = {}) =>
    call<ProxyHost>('POST', '/proxy-hosts', { domain, forward_host: '127.0.0.1', forward_port: 1, ...fields });
  const ordered = (certificate_id: number, fields: object = {}) =>
    here()
      .database.kysely.insertInto('certificate_orders')
      .values({
        certificate_id,
        issuer: 'acme',
        key_type: 'p256',
        names: 'one.example.com',
        is_auto: 0,
        steps: '[]',
        failures: 0,
        leased_by: '',
        leased_until: '',
        created_at: '',
        updated_at: '',
        ...fields,
      })
      .execute();

  test('is replaced in its place, by who knows what is there, and taken back with its key', async () => {
    const first = makeCertificate(['one.example.com', 'two.example.com']);
    const { id, uuid } = await upload('site', first);
    await host('one.example.com,two.example.com', { certificate_id: id });
    const was = await send<CertificateInUse>('GET', `/certificates/${id}`);
    const next = makeCertificate(['one.example.com'], { days: 60 });
    const { headers } = here().admin;

    const stale = { ...headers, 'if-match': '"other"' };
    expect((await send('PUT', `/certificates/${id}`, replacement(next), stale)).status).toBe(412);
    const current = { ...headers, 'if-match': was.headers.get('etag') ?? '' };
    const answer = await send<ReplacedCertificate>('PUT', `/certificates/${id}`, replacement(next), current);
    expect(answer).toMatchObject({ status: 200, body: { id, uuid, name: 'site', domains: 'one.example.com' } });
    expect(answer.body.warnings.map(({ field, message }) => `${field}: ${message}`)).toEqual([
      'domains: it does not cover two.example.com any more, which proxy hosts use',
      'domains: no other certificate covers two.example.com',
    ]);
    expect((await send('PUT', `/certificates/${id}`, replacement(next), current)).status).toBe(412);
    const now = await send<CertificateInUse>('GET', `/certificates/${id}`);
    expect(now.body).toMatchObject({ domains: 'one.example.com', used_by_total: 1 });
    // What GET and PUT tell of is one version.
    const version = (tag: string | null) => tag?.slice(1).split('.')[0];
    expect(version(now.headers.get('etag'))).toBe(version(answer.headers.get('etag')));
    const pem = async () => (await send<string>('GET', `/certificates/${id}/download`)).body;
    expect(await pem()).toBe(new X509Certificate(next.certificate).toString());

    const [change] = await call<HistoryEntry[]>('GET', `/certificates/${id}/history`);
    expect(change).toMatchObject({ action: 'certificate.replace' });
    expect(change?.changes.find(({ field }) => field === 'key_pem')).toMatchObject({ before: '***', after: '***' });
    expect(await send('POST', `/history/${change?.id}/revert`)).toMatchObject({
      status: 200,
      body: { domains: was.body.domains },
    });
    expect(await pem()).toBe(new X509Certificate(first.certificate).toString());
    const whole = (await send<string>('POST', `/certificates/${id}/download`, { password: PASSWORD })).body;
    expect(new X509Certificate(whole).checkPrivateKey(createPrivateKey(whole))).toBe(true);
    const [back] = await call<HistoryEntry[]>('GET', `/certificates/${id}/history`);
    expect(await send('POST', `/history/${back?.id}/revert`)).toMatchObject({ body: { domains: 'one.example.com' } });
  });

  test('gets another name, and goes on being ordered; a custom one in its place ends the order', async () => {
    const { id } = await upload('site', makeCertificate(['one.example.com']));
    await ordered(id);
    const renamed = await call<ReplacedCertificate>('PUT', `/certificates/${id}`, renaming('other'));
    expect(renamed).toMatchObject({ name: 'other', source: { issuer: 'acme' }, warnings: [] });
    const form = replacement(makeCertificate(['one.example.com', 'more.example.com']), 'mine');
    const replaced = await call<ReplacedCertificate>('PUT', `/certificates/${id}`, form);
    expect(replaced).toMatchObject({ name: 'mine', provider: 'custom', source: null, status: 'valid' });
    expect(replaced.warnings).toEqual([
      { field: 'provider', message: 'it was ordered and is a custom one now: nobody renews it any more' },
    ]);
    const [, rename] = await call<HistoryEntry[]>('GET', `/certificates/${id}/history`);
    expect(rename?.changes).toEqual([{ field: 'name', before: 'site', after: 'other' }]);
  });

  test('stays as it is when the form is not right, or comes from who may not', async () => {
    const { id, domains } = await upload('site', makeCertificate(['one.example.com']));
    const next = makeCertificate(['two.example.com']);
    const put = (form: FormData, headers = here().admin.headers) =>
      send<ErrorBody>('PUT', `/certificates/${id}`, form, headers);
    const lacking = replacement(next);
    lacking.delete('key_file');
    for (const [form, error] of [
      [lacking, 'key_file is required'],
      [new FormData(), 'certificate_file and key_file are required, or pkcs12_file, or name'],
      [renaming(''), 'name is required'],
      [
        replacement({ ...next, key: makeCertificate(['x.example.com']).key }),
        'key_file does not match the certificate',
      ],
    ] as const) {
      expect(await put(form)).toMatchObject({ status: 400, body: { error } });
    }
    const { headers } = await here().caller();
    expect((await put(replacement(next), headers)).status).toBe(403);
    expect((await send('PUT', '/certificates/4242', replacement(next))).status).toBe(404);
    expect(await call<Certificate>('GET', `/certificates/${id}`)).toMatchObject({ name: 'site', domains });
  });

  test('is downloaded by anybody signed in, its key by an administrator who gives the password again', async () => {
    const pair = makeCertificate(['one.example.com']);
    const { id } = await upload('site', pair);
    const user = await here().caller();
    const chain = await send<string>('GET', `/certificates/${id}/download`, undefined, user.headers);
    expect(chain.headers.get('content-disposition')).toBe(`attachment; filename="certificate-${id}.pem"`);
    expect(chain.body).toBe(new X509Certificate(pair.certificate).toString());

    const path = `/certificates/${id}/download`;
    const key = await send<string>('POST', path, { password: PASSWORD });
    expect(key.status).toBe(200);
    expect(key.headers.get('cache-control')).toBe('no-store');
    expect(key.headers.get('content-type')).toBe('application/x-pem-file');
    expect(new X509Certificate(key.body).checkPrivateKey(createPrivateKey(key.body))).toBe(true);
    const entry = (await call<AuditEntry[]>('GET', '/audit-logs?limit=1'))[0];
    expect(entry).toMatchObject({ action: 'certificate.key_download', resource: `certificates/${id}` });

    const answer = await fetch(`${here().app.url}/api/v1${path}`, {
      method: 'POST',
      headers: { ...here().admin.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ password: PASSWORD, pkcs12_password: 'for "Windows"' }),
    });
    expect(answer.headers.get('content-type')).toBe('application/x-pkcs12');
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="certificate-${id}.p12"`);
    const opened = openPkcs12(Buffer.from(await answer.arrayBuffer()), 'for "Windows"');
    expect(new X509Certificate(opened).toString()).toBe(chain.body);
    expect(new X509Certificate(opened).checkPrivateKey(createPrivateKey(opened))).toBe(true);
    for (const pkcs12_password of ['short', 'größe größe', '']) {
      const refused = await send<ErrorBody>('POST', path, { password: PASSWORD, pkcs12_password });
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringMatching(/^pkcs12_password /) } });
    }

    const token = await call<{ token: string }>('POST', '/tokens', { name: 't' });
    const bearer = { authorization: `Bearer ${token.token}` };
    for (const headers of [bearer, user.headers, {}]) {
      expect((await send('POST', path, { password: PASSWORD }, headers)).status).toBe(403);
    }
    const refusals: number[] = [];
    for (let n = 0; n < 6; n += 1) refusals.push((await send('POST', path, { password: 'wrong password' })).status);
    expect(refusals).toEqual([403, 403, 403, 403, 403, 429]);
    expect((await send('POST', path, { password: PASSWORD })).status).toBe(429);
  });

  test('is listed with how many hosts use it, sorted and filtered', async () => {
    const chosen = await upload('chosen', makeCertificate(['a.example.com'], { days: 10 }));
    const wildcard = await upload('wild', makeCertificate(['*.example.com'], { days: 20 }));
    const unused = await upload('unused', makeCertificate(['z.example.org'], { days: 30 }));
    await host('a.example.com,b.example.com');
    await host('c.example.com', { certificate_id: chosen.id });
    await host('d.example.com,e.example.com');
    const { database } = here();
    const placeholder = { is_placeholder: 1, provider: 'letsencrypt' };
    await database.kysely.updateTable('certificates').set(placeholder).where('id', '=', unused.id).execute();
    const list = async (query = '') =>
      (await call<ListedCertificate[]>('GET', `/certificates${query}`)).map(
        ({ name, used_by_total }) => `${name} ${used_by_total}`,
      );
    expect(await list()).toEqual(['chosen 2', 'wild 2', 'unused 0']);
    for (const { id } of [chosen, wildcard]) {
      const [row] = (await call<ListedCertificate[]>('GET', '/certificates')).filter((one) => one.id === id);
      const { used_by_total } = await call<CertificateInUse>('GET', `/certificates/${id}`);
      expect(row?.used_by_total).toBe(used_by_total);
    }
    expect(await list('?sort=expires_at&order=desc&status=valid')).toEqual(['wild 2', 'chosen 2']);
    expect(await list('?status=failed')).toEqual(['unused 0']);
    await ordered(unused.id);
    expect(await list('?status=failed')).toEqual([]);
    expect(await list('?status=pending&sort=status')).toEqual(['unused 0']);
    expect(await list('?provider=letsencrypt')).toEqual(['unused 0']);
    const soon = new Date(Date.now() + 15 * 86_400_000).toISOString();
    expect(await list(`?expires_before=${soon}`)).toEqual(['chosen 2']);
    // The same moment in another zone.
    const elsewhere = `${new Date(Date.parse(soon) + 7_200_000).toISOString().slice(0, 19)}%2B02:00`;
    expect(await list(`?expires_before=${elsewhere}`)).toEqual(['chosen 2']);
    expect(await list('?search=WILD&per_page=1')).toEqual(['wild 2']);
    for (const wrong of ['status=x', 'provider=x', 'expires_before=tomorrow']) {
      expect((await send('GET', `/certificates?${wrong}`)).status, wrong).toBe(400);
    }
  });

  test('is counted right also where there are many names and wildcards', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `*.w${index}.example.com`);
    const { id } = await upload('many', makeCertificate(names));
    await host('x.w3.example.com,y.w4.example.com,too.deep.w3.example.com');
    await host('elsewhere.example.com');
    const [row] = await call<ListedCertificate[]>('GET', '/certificates');
    expect(row).toMatchObject({ id, used_by_total: 1 });
  });
});
