import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { type Fields, host, startWithResources } from '../testing/given-resources.ts';
import { onBothDatabases } from '../testing/start-app.ts';

onBothDatabases('conventions of all resources', (kind) => {
  let it: Awaited<ReturnType<typeof startWithResources>>;
  beforeAll(async () => {
    it = await startWithResources(kind);
  });
  afterAll(() => it.app.stop());

  test('every list has pages, an order, a search, and says how much there is and where', async () => {
    for (const name of Object.values(it.resources)) for (let n = 0; n < 3; n += 1) await name.make();
    for (const [path, key, sort] of [
      ['/proxy-hosts', null, 'domain'],
      ['/remote-servers', null, 'name'],
      ['/access-lists', null, 'name'],
      ['/certificates', null, 'domains'],
      ['/dns-providers', null, 'name'],
      ['/dns-providers/types', null, 'type'],
      ['/users', null, 'email'],
      ['/tokens', null, 'created_at'],
      ['/auth/sessions', null, 'created_at'],
      ['/audit-logs', null, 'timestamp'],
      ['/settings', 'settings', 'key'],
      ['/security/decisions', 'decisions', 'ip'],
      ['/security/rulesets', 'rulesets', 'name'],
      ['/security/blocks', 'blocks', 'timestamp'],
    ] as const) {
      const list = async (query: string) => {
        const answer = await it.send<Fields>('GET', `${path}${query}`);
        expect(answer.status, `${path}${query} ${JSON.stringify(answer.body)}`).toBe(200);
        const rows = (key === null ? answer.body : answer.body[key]) as Fields[];
        expect(Array.isArray(rows), path).toBe(true);
        const link = answer.headers.get('link') ?? '';
        expect(link, path).toContain('rel="first"');
        expect(link, path).toContain('rel="last"');
        return { rows, link, total: Number(answer.headers.get('x-total-count') ?? 'none') };
      };
      const { total, rows } = await list('');
      expect(total, path).toBeGreaterThanOrEqual(rows.length);
      const walked: Fields[] = [];
      for (let query: string | undefined = '?page=1&per_page=2'; query !== undefined; ) {
        const { rows, link, total: told } = await list(query);
        expect(told, path).toBe(total);
        walked.push(...rows);
        query = /<[^>]*(\?[^>]*)>; rel="next"/.exec(link)?.[1];
      }
      expect(walked.length, path).toBe(total);
      expect(walked.slice(0, rows.length), path).toEqual(rows);
      const up = (await list(`?per_page=1000&sort=${sort}`)).rows;
      const down = (await list(`?per_page=1000&sort=${sort}&order=desc`)).rows;
      expect(down, path).toEqual([...up].reverse());
      expect(await list('?search=n0thing-has-this'), path).toMatchObject({ rows: [], total: 0 });
      for (const wrong of ['page=0', 'per_page=0', 'per_page=1001', 'sort=password_hash', 'order=up', 'page=x']) {
        expect((await it.send('GET', `${path}?${wrong}`)).status, `${path}?${wrong}`).toBe(400);
      }
    }
  });

  test('an object is found by uuid and by id; what is neither is refused, what nobody has is not found', async () => {
    const made = await it.given('/proxy-hosts', host('named.example.com'));
    expect(made.id).toEqual(expect.any(Number));
    for (const name of [made.id, made.uuid, String(made.uuid).toUpperCase()]) {
      expect((await it.send('GET', `/proxy-hosts/${name}`)).body).toMatchObject({ uuid: made.uuid });
      expect((await it.send('PUT', `/proxy-hosts/${name}`, { name: 'n' })).body).toMatchObject({ uuid: made.uuid });
    }
    const named = [
      '/proxy-hosts',
      '/remote-servers',
      '/dns-providers',
      '/access-lists',
      '/certificates',
      '/security/decisions',
    ];
    for (const path of [...named, '/security/rulesets', '/users', '/tokens']) {
      for (const wrong of ['x', '0', '-1', '1.5', '99999999999', '0x1', '%20']) {
        expect(await it.send('GET', `${path}/${wrong}`), `${path}/${wrong}`).toMatchObject({
          status: 400,
          body: { error: 'invalid id' },
        });
        expect((await it.send('DELETE', `${path}/${wrong}`)).status, `${path}/${wrong}`).toBe(400);
      }
      expect((await it.send('GET', `${path}/999999`)).status, path).toBe(404);
      expect((await it.send('DELETE', `${path}/999999`)).status, path).toBe(404);
    }
    expect((await it.send('GET', '/proxy-hosts/00000000-0000-4000-8000-000000000000')).status).toBe(404);
  });

  test('a reference takes the id or the uuid; what is referred to tells by whom, and can not be deleted', async () => {
    const machine = await it.given('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 });
    const list = await it.given('/access-lists', { name: 'referred', type: 'deny' });
    const form = uploadForm('referred', makeCertificate(['*.referred.example.com']));
    const certificate = await it.given('/certificates/upload', form);
    const references = {
      remote_server_id: String(machine.uuid).toUpperCase(),
      access_list_id: list.uuid,
      certificate_id: certificate.uuid,
    };
    const made = await it.given('/proxy-hosts', host('a.referred.example.com', references));
    expect(made).toMatchObject({
      remote_server_id: machine.id,
      access_list_id: list.id,
      certificate_id: certificate.id,
    });
    // Served with the certificate without naming it.
    const other = await it.given('/proxy-hosts', host('b.referred.example.com', { access_list_id: list.id }));
    const use = ({ id, uuid, domain }: Fields) => ({ id, uuid, domain });
    for (const [path, users, message] of [
      [`/remote-servers/${machine.uuid}`, [made], 'remote server is in use by one or more proxy hosts'],
      [`/access-lists/${list.id}`, [made, other], 'access list is in use by one or more proxy hosts'],
      [`/certificates/${certificate.id}`, [made, other], 'certificate is in use by one or more proxy hosts'],
    ] as const) {
      expect((await it.send('GET', path)).body, path).toMatchObject({
        used_by: users.map(use),
        used_by_total: users.length,
      });
      const refused = await it.send('DELETE', path);
      expect(refused, path).toMatchObject({ status: 409, body: { error: message } });
      for (const { domain } of users) expect(refused.body.details, path).toContain(String(domain));
    }
    const wrong = '00000000-0000-4000-8000-000000000000';
    for (const field of Object.keys(references)) {
      expect(await it.send('PUT', `/proxy-hosts/${made.uuid}`, { [field]: wrong })).toMatchObject({ status: 400 });
      expect((await it.send('PUT', `/proxy-hosts/${made.uuid}`, { [field]: 'x' })).body.error).toBe(
        `${field} must be an integer or a uuid or null`,
      );
    }
    const freed = { remote_server_id: null, access_list_id: null, certificate_id: null };
    expect((await it.send('PUT', `/proxy-hosts/${made.uuid}`, freed)).body).toMatchObject(freed);
    expect((await it.send('GET', `/remote-servers/${machine.id}`)).body).toMatchObject({
      used_by: [],
      used_by_total: 0,
    });
  });

  test('names the first hundred users of an object, and counts them all', async () => {
    const list = await it.given('/access-lists', { name: 'popular', type: 'deny' });
    for (let n = 0; n < 103; n += 1) {
      await it.given('/proxy-hosts', host(`p${n}.popular.example.com`, { access_list_id: list.id }));
    }
    const { body } = await it.send('GET', `/access-lists/${list.id}`);
    expect(body.used_by).toHaveLength(100);
    expect(body.used_by_total).toBe(103);
    expect((await it.send('DELETE', `/access-lists/${list.id}`)).body.details).toMatch(/and 98 more$/);
  });
});
