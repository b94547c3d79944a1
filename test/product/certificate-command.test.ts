import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import type { Certificate, ProxyHost } from '@sallyport/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { sallyport } from '../support/sallyport-command.ts';

describe('sallyport certificate', () => {
  let product: Product;
  let env: { SALLYPORT_HTTP_BIND: string };
  beforeAll(async () => {
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    product = createProduct({ api, http, https });
    env = { SALLYPORT_HTTP_BIND: `127.0.0.1:${api}` };
    await product.start();
  });
  afterAll(() => product.remove());
  const run = (...args: string[]) => sallyport(product.dataDir, ['certificate', ...args], { env });
  const send = async <T>(method: string, path: string, body?: object): Promise<T> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(product.api + path, {
      method,
      ...(body ? { headers, body: JSON.stringify(body) } : {}),
    });
    expect(response.status, path).toBeLessThan(300);
    return (response.headers.get('content-type')?.includes('json') ? response.json() : response.text()) as Promise<T>;
  };

  test("brings certbot's directory along, and says what became of each file", async () => {
    const directory = join(product.dataDir, 'to-import');
    const [archive, live] = [join(directory, 'archive/bot'), join(directory, 'live/bot')];
    for (const path of [archive, live]) mkdirSync(path, { recursive: true });
    const { certificate, key } = makeCertificate(['bot.example.com']);
    writeFileSync(join(archive, 'fullchain1.pem'), certificate);
    writeFileSync(join(archive, 'privkey1.pem'), key);
    writeFileSync(join(live, 'README'), 'no keys here');
    for (const name of ['fullchain', 'privkey']) symlinkSync(join(archive, `${name}1.pem`), join(live, `${name}.pem`));
    const first = await run('import', directory);
    expect(first).toMatchObject({ code: 0, err: '' });
    expect(first.out).toMatch(/archive\/bot\/fullchain1\.pem +imported +\d+ +for bot\.example\.com/);
    expect(first.out).toMatch(/live\/bot\/privkey\.pem +same/);
    expect(first.out).toContain('1 imported');
    expect(first.out).not.toContain('README');
    expect((await run('import', live)).out).toContain('0 imported');

    const locked = makeCertificate(['locked.example.com'], { passphrase: 'x' });
    writeFileSync(join(directory, 'locked.key'), locked.key);
    const refused = await run('import', join(directory, 'locked.key'));
    expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('not all of it could be used') });
    expect(refused.out).toContain('the key is encrypted');
    expect((await run('import', join(directory, 'nowhere'))).err).toContain('ENOENT');

    const listed = JSON.parse((await run('list', '--json', '--provider', 'custom')).out) as Certificate[];
    expect(listed.map(({ domains }) => domains)).toEqual(['bot.example.com']);
    const out = join(directory, 'chain.pem');
    expect((await run('download', String(listed[0]?.id), '--out', out)).code).toBe(0);
    expect(readFileSync(out, 'utf8')).toBe(new X509Certificate(certificate).toString());
    expect((await run('download', String(listed[0]?.id), '--out', out)).err).toContain('is there already: remove it');
    expect((await run('renew', String(listed[0]?.id))).code).toBe(1);
  });

  test('orders of the internal authority, follows it, and a client that trusts the root connects', async () => {
    const ordered = await run('order', 'nas.lan', '*.home.lan', '--provider', 'internal');
    expect(ordered).toMatchObject({ code: 0, err: '' });
    expect(ordered.out).toMatch(/install: done/);
    expect(ordered.out).toMatch(/certificate \d+ for nas\.lan,\*\.home\.lan is valid; it expires on/);
    await send<ProxyHost>('POST', '/proxy-hosts', { domain: 'nas.lan', forward_host: '127.0.0.1', forward_port: 9 });
    const { out: ca } = await run('root', 'download');
    const subject = () =>
      new Promise<string>((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: product.ports.https, servername: 'nas.lan', ca }, () => {
          resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
          socket.destroy();
        });
        socket.on('error', reject);
      });
    const serial = await subject();
    const [{ id } = { id: 0 }] = JSON.parse(
      (await run('list', '--json', '--provider', 'internal')).out,
    ) as Certificate[];
    expect(await run('renew', String(id))).toMatchObject({ code: 0, err: '' });
    expect(await subject()).not.toBe(serial);
    const shown = await run('show', String(id));
    expect(shown.out).toMatch(/used by +nas\.lan/);
    expect(shown.out).toMatch(/step install +done/);

    const former = new X509Certificate(ca).fingerprint256;
    const made = await run('root', 'next');
    expect(made.out).toMatch(new RegExp(`^sha256 +${former}$`, 'm'));
    expect(made.out).toContain('Have every device trust it');
    const file = join(product.dataDir, 'next-root.pem');
    expect(await run('root', 'download', '--next', '--out', file)).toMatchObject({ code: 0, err: '' });
    const next = new X509Certificate(readFileSync(file)).fingerprint256;
    expect(made.out).toMatch(new RegExp(`^next: sha256 +${next}$`, 'm'));
    // Nobody is there to be asked, and another one is not what is there.
    const unasked = await run('root', 'take-over');
    expect(unasked).toMatchObject({ code: 1, err: expect.stringContaining(next) });
    expect(unasked.err).toContain('nothing was changed: name it by --sha256, or say --yes');
    const another = await run('root', 'take-over', '--sha256', former);
    expect(another).toMatchObject({ code: 1, err: expect.stringContaining('another one than you named') });
    const takenOver = await run('root', 'take-over', '--sha256', next, '--json');
    expect(JSON.parse(takenOver.out)).toMatchObject({ sha256: next, next: null });
    const [root, dropped] = await Promise.all([run('root'), run('root', 'drop-next', '--yes')]);
    expect(root.out).toMatch(new RegExp(`^sha256 +${next}$`, 'm'));
    expect(dropped).toMatchObject({ code: 1, err: expect.stringContaining('There is no next root') });
  });

  test('says why an order was refused', async () => {
    const refused = await run('order', 'app.example.com');
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/account/);
  });
});
