import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Authority, checkAuthority, describeRoot, issueLeaf, makeAuthority } from './authority.ts';

const DAY_MS = 86_400_000;
// Certificates know whole seconds.
const now = new Date(Math.floor(Date.now() / 1000) * 1000);

describe('the internal authority', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-authority-'));
  let root: Authority;
  beforeAll(async () => {
    root = await makeAuthority('Home', now);
    writeFileSync(join(directory, 'root.pem'), root.rootPem);
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  const openssl = (...args: string[]): string => execFileSync('openssl', args, { cwd: directory, encoding: 'utf8' });
  const textOf = (pem: string): string =>
    execFileSync('openssl', ['x509', '-noout', '-text'], { input: pem, encoding: 'utf8' });
  /** The line below an extension's name. */
  const extension = (pem: string, name: string): string =>
    new RegExp(`${name}: ?(critical)?\\s*\\n\\s*(.*)`).exec(textOf(pem))?.slice(1, 3).join(' ').trim() ?? '';
  const lifeOf = (pem: string): [number, number] => {
    const { validFromDate, validToDate } = new X509Certificate(pem);
    return [validFromDate.getTime() - now.getTime(), validToDate.getTime() - now.getTime()];
  };

  test('is a root for ten years that signs leafs, and no other authority', () => {
    const certificate = new X509Certificate(root.rootPem);
    expect(certificate.ca).toBe(true);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect(describeRoot(root.rootPem)).toEqual({
      subject: expect.stringMatching(/^O=Sallyport, CN=Sallyport CA of Home [0-9a-f]{4}$/),
      sha256: certificate.fingerprint256,
      notAfter: certificate.validToDate,
    });
    expect(extension(root.rootPem, 'Basic Constraints')).toBe('critical CA:TRUE, pathlen:0');
    expect(extension(root.rootPem, 'Key Usage')).toBe('critical Certificate Sign, CRL Sign');
    const inTenYears = new Date(now);
    inTenYears.setUTCFullYear(now.getUTCFullYear() + 10);
    expect(lifeOf(root.rootPem)).toEqual([-DAY_MS, inTenYears.getTime() - now.getTime()]);
  });

  test('of a place with a long name is still told from the one before it', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => makeAuthority('x'.repeat(100), now)));
    const names = [one, other].map((made) => describeRoot(made?.rootPem ?? '').subject.replace(/.*CN=/, ''));
    for (const name of names) expect(name).toMatch(/^Sallyport CA of x{43} [0-9a-f]{4}$/);
    expect(names[0]).not.toBe(names[1]);
  });

  test('issues what a strict client takes, for these names only, and what can certify nothing itself', async () => {
    const names = ['nas', 'nas.home.arpa', '192.0.2.1', '2001:db8::1'];
    const { chainPem, keyPem } = await issueLeaf(root, { names, keyType: 'p256' }, now);
    writeFileSync(join(directory, 'leaf.pem'), chainPem);
    const strict = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', 'root.pem'];
    for (const name of ['nas', 'nas.home.arpa'])
      expect(openssl(...strict, '-verify_hostname', name, 'leaf.pem')).toContain('leaf.pem: OK');
    expect(openssl(...strict, '-verify_ip', '2001:db8::1', 'leaf.pem')).toContain('leaf.pem: OK');
    const leaf = new X509Certificate(chainPem);
    expect(leaf.ca).toBe(false);
    expect(leaf.checkPrivateKey(createPrivateKey(keyPem))).toBe(true);
    expect(leaf.checkHost('home.arpa')).toBeUndefined();
    expect(extension(chainPem, 'Subject Alternative Name')).toMatch(
      /^critical DNS:nas, DNS:nas\.home\.arpa, IP Address/,
    );
    expect(extension(chainPem, 'Basic Constraints')).toBe('critical CA:FALSE');
    expect(extension(chainPem, 'Key Usage')).toBe('critical Digital Signature');
    expect(extension(chainPem, 'Extended Key Usage')).toBe('TLS Web Server Authentication');
    expect(lifeOf(chainPem)).toEqual([-3_600_000, 30 * DAY_MS]);
    const { chainPem: next } = await issueLeaf(root, { names, keyType: 'p256' }, now);
    expect(new X509Certificate(next).serialNumber).not.toBe(leaf.serialNumber);
    for (const pem of [chainPem, next, root.rootPem])
      expect(new X509Certificate(pem).serialNumber).toMatch(/^[4-7][0-9A-F]{31}$/);
  });

  test('issues an RSA key that old handshakes can encrypt with', async () => {
    const { chainPem } = await issueLeaf(root, { names: ['nas'], keyType: 'rsa2048' }, now);
    expect(extension(chainPem, 'Key Usage')).toBe('critical Digital Signature, Key Encipherment');
  });

  test('issues nothing that outlasts its root, and nothing when that has ended', async () => {
    const tenYearsAgo = new Date(now);
    tenYearsAgo.setUTCFullYear(now.getUTCFullYear() - 10);
    const old = await makeAuthority('Home', new Date(tenYearsAgo.getTime() + 5 * DAY_MS));
    const end = new X509Certificate(old.rootPem).validToDate;
    const { chainPem } = await issueLeaf(old, { names: ['nas'], keyType: 'p256' }, now);
    expect(new X509Certificate(chainPem).validToDate).toEqual(end);
    await expect(issueLeaf(old, { names: ['nas'], keyType: 'p256' }, end)).rejects.toThrow('the root expired on');
  });

  test('is refused when it is restored with another key, or is no authority', async () => {
    expect(() => checkAuthority(root)).not.toThrow();
    const other = await makeAuthority('Home', now);
    expect(() => checkAuthority({ ...root, keyPem: other.keyPem })).toThrow('no authority');
    const { chainPem, keyPem } = await issueLeaf(root, { names: ['nas'], keyType: 'p256' }, now);
    expect(() => checkAuthority({ rootPem: chainPem, keyPem })).toThrow('no authority');
  });
});
