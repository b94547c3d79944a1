import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { weakCertificate } from '../../../test/support/haproxy/weak-certificate.ts';
import { ask } from '../../../test/support/http-client.ts';
import { createSelfSignedCertificate } from '../src/files/self-signed-certificate.ts';
import type { DesiredCertificate } from '../src/index.ts';

const givenCertificate = async (id: number, ...names: [string, ...string[]]): Promise<DesiredCertificate> => {
  const { certificate, key } = await createSelfSignedCertificate({ names, validFrom: new Date(), validDays: 30 });
  return { id, pem: certificate + key, names, notAfter: new X509Certificate(certificate).validToDate.getTime() };
};

const fingerprintOf = ({ pem }: DesiredCertificate): string => new X509Certificate(pem).fingerprint256;

describe('TLS', () => {
  let plane: RunningDataPlane;
  let origin: Origin;
  beforeAll(async () => {
    [plane, origin] = await Promise.all([
      startDataPlane({}, { haproxy: '/usr/sbin/haproxy' }),
      startEchoOrigin('echo'),
    ]);
  });
  afterAll(async () => {
    await origin.stop();
    await plane.stop();
  });

  /** What a TLS client that offers h2 and http/1.1 is given for this name. */
  const handshake = (servername: string): Promise<{ fingerprint: string; subject: string; alpn: string }> =>
    new Promise((resolve, reject) => {
      const socket: TLSSocket = connectTls(
        {
          port: plane.httpsPort,
          host: '127.0.0.1',
          servername,
          rejectUnauthorized: false,
          ALPNProtocols: ['h2', 'http/1.1'],
        },
        () => {
          const peer = socket.getPeerCertificate();
          resolve({
            fingerprint: peer.fingerprint256,
            subject: String(peer.subject.CN),
            alpn: String(socket.alpnProtocol),
          });
          socket.destroy();
        },
      );
      socket.on('error', reject);
    });

  const install = async (...certificates: DesiredCertificate[]): Promise<void> => {
    const outcomes = await plane.dataPlane.applyCertificates(
      certificates.map((certificate) => ({ type: 'put', certificate })),
    );
    for (const outcome of outcomes.values()) expect(outcome).toEqual({ applied: true });
  };

  test('a name without a certificate gets the default one', async () => {
    expect((await handshake('nobody.example.org')).subject).toBe('sallyport.invalid');
  });

  test('certificates are found by name: exact, then wildcard; the later one to expire wins', async () => {
    const exact = await givenCertificate(1, 'a.one.example.com');
    const wildcard = await givenCertificate(2, '*.one.example.com');
    const older = { ...(await givenCertificate(3, '*.one.example.com')), notAfter: wildcard.notAfter - 1 };
    await install(exact, older, wildcard);
    expect((await handshake('a.one.example.com')).fingerprint).toBe(fingerprintOf(exact));
    expect((await handshake('b.one.example.com')).fingerprint).toBe(fingerprintOf(wildcard));
    await plane.dataPlane.applyCertificates([{ type: 'remove', id: 2 }]);
    expect((await handshake('b.one.example.com')).fingerprint).toBe(fingerprintOf(older));
  });

  test('a host gets the certificate that was chosen for it, also against the match by name', async () => {
    const byName = await givenCertificate(11, 'two.example.com', '*.two.example.com');
    const chosen = await givenCertificate(12, 'other.example.com');
    await install(byName, chosen);
    const host = givenHost({ names: ['two.example.com', 'x.two.example.com'], origin, certificate: 12 });
    await plane.serve(host);
    expect((await handshake('two.example.com')).fingerprint).toBe(fingerprintOf(chosen));
    expect((await handshake('x.two.example.com')).fingerprint).toBe(fingerprintOf(chosen));
    expect((await handshake('y.two.example.com')).fingerprint).toBe(fingerprintOf(byName));
    await plane.serve({ ...host, certificate: null });
    expect((await handshake('two.example.com')).fingerprint).toBe(fingerprintOf(byName));
  });

  test('http2_support decides the ALPN of each name, with or without a certificate of its own', async () => {
    await install(await givenCertificate(21, '*.alpn.example.com'));
    const h1 = givenHost({ names: ['h1.alpn.example.com', 'h1.example.net'], origin }, { http2_support: false });
    await plane.serve(h1, givenHost({ names: ['h2.alpn.example.com'], origin }));
    expect(await handshake('h1.alpn.example.com')).toMatchObject({ alpn: 'http/1.1', subject: '*.alpn.example.com' });
    expect(await handshake('h1.example.net')).toMatchObject({ alpn: 'http/1.1', subject: 'sallyport.invalid' });
    expect(await handshake('h2.alpn.example.com')).toMatchObject({ alpn: 'h2' });
    await plane.serve({ ...h1, flags: { ...h1.flags, http2_support: true } });
    expect(await handshake('h1.alpn.example.com')).toMatchObject({ alpn: 'h2' });
    expect(await handshake('h1.example.net')).toMatchObject({ alpn: 'h2' });
  });

  test('a wildcard host without HTTP/2 does not take it from the exact hosts below it', async () => {
    const wildcard = givenHost({ names: ['*.mixed.example.com'], origin }, { http2_support: false });
    await plane.serve(givenHost({ names: ['exact.mixed.example.com'], origin }), wildcard);
    expect((await handshake('any.mixed.example.com')).alpn).toBe('http/1.1');
    expect((await handshake('exact.mixed.example.com')).alpn).toBe('h2');
    await plane.dataPlane.applyHosts([{ type: 'remove', id: wildcard.id }]);
    expect((await handshake('any.mixed.example.com')).alpn).toBe('h2');
  });

  test('a certificate that cannot be served is refused with the reason and harms nobody', async () => {
    const good = await givenCertificate(31, 'good.example.com');
    const [a, b] = [await givenCertificate(32, 'bad.example.com'), await givenCertificate(33, 'bad.example.com')];
    const certificateOf = (pem: string): string => pem.slice(0, pem.indexOf('-----BEGIN PRIVATE'));
    const mixed = { ...a, pem: certificateOf(a.pem) + b.pem.slice(certificateOf(b.pem).length) };
    const outcomes = await plane.dataPlane.applyCertificates([
      { type: 'put', certificate: mixed },
      { type: 'put', certificate: { ...b, pem: 'no PEM at all' } },
      { type: 'put', certificate: good },
    ]);
    expect([...outcomes]).toEqual([
      [32, { applied: false, issue: 'no certificate belongs to the private key' }],
      [33, { applied: false, issue: 'exactly one private key is needed' }],
      [31, { applied: true }],
    ]);
    expect((await handshake('good.example.com')).fingerprint).toBe(fingerprintOf(good));
    const host = givenHost({ names: ['bad.example.com'], origin, certificate: 32 });
    const outcome = (await plane.dataPlane.applyHosts([{ type: 'put', host }])).get(host.id);
    expect(outcome).toEqual({ applied: false, issue: 'certificate 32 is not there or cannot be served' });
    expect((await ask({ port: plane.httpsPort, host: 'bad.example.com', tls: true })).status).toBe(200);
  });

  test('a certificate that HAProxy refuses to serve keeps no other from being served, nor a host', async () => {
    const [good, later] = [
      await givenCertificate(71, 'fine.example.com'),
      await givenCertificate(72, 'later.example.com'),
    ];
    const weak = { ...(await givenCertificate(70, 'weak.example.com')), pem: weakCertificate };
    const refused = { applied: false, issue: expect.stringMatching(/^HAProxy refused it: .*unable to load/s) };
    const put = (certificate: DesiredCertificate) => ({ type: 'put', certificate }) as const;
    const outcomes = await plane.dataPlane.applyCertificates([weak, good].map(put));
    expect([...outcomes]).toEqual([
      [70, refused],
      [71, { applied: true }],
    ]);
    await install(later);
    const host = givenHost({ names: ['h1.fine.example.com'], origin, certificate: 71 }, { http2_support: false });
    await plane.serve(host);
    expect(await handshake('h1.fine.example.com')).toMatchObject({
      fingerprint: fingerprintOf(good),
      alpn: 'http/1.1',
    });
    expect((await handshake('later.example.com')).fingerprint).toBe(fingerprintOf(later));
    expect((await handshake('weak.example.com')).subject).toBe('sallyport.invalid');
    const chosen = givenHost({ names: ['weak.example.com'], origin, certificate: 70 });
    const outcome = (await plane.dataPlane.applyHosts([{ type: 'put', host: chosen }])).get(chosen.id);
    expect(outcome).toEqual({ applied: false, issue: 'certificate 70 is not there or cannot be served' });
    // Each time that everything is taken over it is tried once more, and no difference counts for it.
    const report = await plane.dataPlane.reconcile({ hosts: [host, chosen], certificates: [weak, good, later] });
    expect(report).toMatchObject({ applied: true, driftedEntries: 0 });
    expect([...report.quarantinedCertificates]).toEqual([[70, refused.issue]]);
    expect(await readdir(join(plane.directory, 'tls/certificates'))).not.toContain('70.pem');
    expect(await readFile(join(plane.directory, 'tls/crt-list.txt'), 'utf8')).not.toContain('70.pem');
  });

  test('a certificate that nobody asked for is looked at when a host chooses it', async () => {
    const served = await givenCertificate(75, 'weak.example.com');
    const weak = { ...served, id: 76, pem: weakCertificate, notAfter: served.notAfter - 1 };
    // Of two for a name the one that lasts longer is served, so nothing names the other one.
    await install(weak, served);
    const host = givenHost({ names: ['chosen.example.com'], origin, certificate: 76 });
    const outcomes = await plane.dataPlane.applyHosts([{ type: 'put', host }]);
    expect(outcomes.get(host.id)).toEqual({ applied: false, issue: 'certificate 76 is not there or cannot be served' });
    expect((await ask({ port: plane.httpPort, host: 'chosen.example.com' })).status).toBe(200);
  });

  test('a certificate that would keep HAProxy from starting is left out before it starts', async () => {
    const { directory } = plane;
    const good = await givenCertificate(61, 'start.example.com');
    const bad = { ...(await givenCertificate(62, 'weak.example.com')), pem: weakCertificate };
    plane.haproxy.kill('SIGTERM');
    await plane.haproxy.exited;
    const report = await plane.dataPlane.reconcile({ hosts: [], certificates: [bad, good] });
    expect(report.applied).toBe(false);
    expect([...report.quarantinedCertificates]).toEqual([[62, expect.stringContaining('HAProxy refused it')]]);
    await plane.restartHaproxy();
    expect((await handshake('start.example.com')).fingerprint).toBe(fingerprintOf(good));
    expect(await readdir(join(directory, 'tls/certificates'))).not.toContain('62.pem');
  });

  test('everything is there again after HAProxy restarts, and removed certificates leave no file', async () => {
    const kept = await givenCertificate(41, 'kept.example.com');
    await install(kept, await givenCertificate(42, 'gone.example.com'));
    await plane.serve(givenHost({ names: ['kept.example.com'], origin }, { http2_support: false }));
    await plane.dataPlane.applyCertificates([{ type: 'remove', id: 42 }]);
    plane.haproxy.kill('SIGTERM');
    await plane.haproxy.exited;
    await plane.restartHaproxy();
    expect(await handshake('kept.example.com')).toMatchObject({ fingerprint: fingerprintOf(kept), alpn: 'http/1.1' });
    expect((await handshake('gone.example.com')).subject).toBe('sallyport.invalid');
    expect(plane.events.at(-1)).toMatchObject({ type: 'connected', driftedEntries: 0 });
    expect(await readdir(join(plane.directory, 'tls/certificates'))).not.toContain('42.pem');
  });

  test('certificates change under load without a failed request', async () => {
    await plane.serve(givenHost({ names: ['swap.example.com'], origin }));
    await install(await givenCertificate(51, 'swap.example.com'));
    const failures: unknown[] = [];
    const seen = new Set<string>();
    let isDone = false;
    const client = async (): Promise<void> => {
      while (!isDone) {
        try {
          const answer = await ask({ port: plane.httpsPort, host: 'swap.example.com', tls: true });
          if (answer.status !== 200) failures.push(answer.status);
          const { subject, fingerprint } = await handshake('swap.example.com');
          if (subject !== 'swap.example.com') failures.push(subject);
          seen.add(fingerprint);
        } catch (error) {
          failures.push(error);
        }
      }
    };
    const clients = Promise.all(Array.from({ length: 4 }, client));
    for (let swap = 0; swap < 5; swap++) {
      const next = await givenCertificate(51, 'swap.example.com', ...(swap % 2 ? ['www.swap.example.com'] : []));
      await install(next);
      await expect.poll(() => seen.has(fingerprintOf(next))).toBe(true);
    }
    isDone = true;
    await clients;
    expect(failures).toEqual([]);
    expect(seen.size).toBeGreaterThanOrEqual(5);
  });

  test('ssl_forced answers plain HTTP with a 308 that keeps path and query, except for certificate authorities', async () => {
    await plane.serve(givenHost({ names: ['forced.example.com'], origin }, { ssl_forced: true }));
    const plain = { port: plane.httpPort, host: 'forced.example.com' };
    const redirected = await ask({ ...plain, path: '/a/b%20c?d=e&f=%2F', method: 'POST', body: 'x' });
    expect(redirected.status).toBe(308);
    expect(redirected.headers.location).toBe(`https://forced.example.com:${plane.httpsPort}/a/b%20c?d=e&f=%2F`);
    expect((await ask({ ...plain, path: '/.well-known/acme-challenge/token' })).status).toBe(200);
    expect((await ask({ port: plane.httpsPort, host: 'forced.example.com', tls: true })).status).toBe(200);
  });

  test('HSTS is sent over TLS only, with subdomains where asked for', async () => {
    await plane.serve(
      givenHost({ names: ['hsts.example.com'], origin }, { hsts_enabled: true }),
      givenHost({ names: ['sub.example.com'], origin }, { hsts_enabled: true, hsts_subdomains: true }),
      givenHost({ names: ['plain.example.com'], origin }, { hsts_subdomains: true }),
    );
    const header = async (host: string, tls: boolean, path = '/'): Promise<unknown> =>
      (await ask({ port: tls ? plane.httpsPort : plane.httpPort, host, tls, path })).headers[
        'strict-transport-security'
      ];
    expect(await header('hsts.example.com', true)).toBe('max-age=63072000');
    expect(await header('sub.example.com', true)).toBe('max-age=63072000; includeSubDomains');
    expect(await header('hsts.example.com', true, '/.env')).toBe('max-age=63072000');
    expect(await header('hsts.example.com', false)).toBeUndefined();
    expect(await header('plain.example.com', true)).toBeUndefined();
  });
});

test('what changes a certificate while everything is taken over again is not undone by it', async () => {
  const plane = await startDataPlane({ threads: 1 });
  try {
    const old = await givenCertificate(1, 'renewed.example.com');
    const renewed = await givenCertificate(1, 'renewed.example.com');
    const removed = await givenCertificate(2, 'removed.example.com');
    const other = await givenCertificate(3, 'other.example.com');
    const changed: Promise<unknown>[] = [];
    await plane.dataPlane.reconcile(
      { hosts: [], certificates: [old, removed, other] },
      {
        onIntended() {
          const put = { type: 'put', certificate: renewed } as const;
          changed.push(plane.dataPlane.applyCertificates([put, { type: 'remove', id: 2 }]));
        },
      },
    );
    await Promise.all(changed);
    const folder = join(plane.directory, 'tls', 'certificates');
    const files = (await readdir(folder)).filter((file) => /^\d/.test(file)).toSorted();
    const kept = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
    expect(kept.map((pem) => new X509Certificate(pem).fingerprint256)).toEqual([renewed, other].map(fingerprintOf));
  } finally {
    await plane.stop();
  }
});
