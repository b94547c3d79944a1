import { X509Certificate } from 'node:crypto';
import type { Certificate, CertificateImport, ErrorBody } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { makeCertificate, makeIssued, makeNamesakes } from '../../../../../../../test/support/certificates.ts';
import { givenHistory } from '../../../../testing/given-history.ts';
import { onBothDatabases } from '../../../../testing/start-app.ts';
import { pairUp } from './pair-up.ts';
import { pemBlocks } from './pem-blocks.ts';
import { readFiles } from './read-files.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

test('blocks are found in any text, each with its own end', () => {
  const [one, other] = [makeCertificate(['a.example']).certificate, makeCertificate(['b.example']).certificate];
  const text = `Bag Attributes\r\n${one.replaceAll('\n', '\r\n')}-----BEGIN X-----\nlost\n${other}-----END X-----\n`;
  expect(pemBlocks(text).map((block) => block.text)).toEqual([one, other]);
  // Linear: a text of beginnings alone would take hours otherwise.
  expect(pemBlocks('-----BEGIN CERTIFICATE-----\n'.repeat(37_000))).toEqual([]);
});

/** The same certificate with other serial numbers, whose signature does not fit any more. */
const copiesOf = (certificate: string, count: number): string[] => {
  const { raw, serialNumber } = new X509Certificate(certificate);
  const serial = Buffer.from(serialNumber, 'hex');
  return Array.from({ length: count }, (_, index) => {
    const der = Buffer.from(raw);
    der.writeUInt32BE(index, der.indexOf(serial) + serial.length - 4);
    return `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;
  });
};

test('others have their turn while the blocks of one file are read, and while issuers are looked for', async () => {
  const { certificate, key, authority } = makeIssued('signed.example.com');
  let turns = 0;
  let next = setImmediate(function turn() {
    turns += 1;
    next = setImmediate(turn);
  });
  try {
    const blocks = [...copiesOf(authority, 30), ...copiesOf(certificate, 30), key];
    const found = await readFiles([{ file: 'one.pem', text: blocks.join('') }]);
    expect(found.certificates.size).toBe(60);
    expect(turns).toBeGreaterThanOrEqual(blocks.length - 1);
    turns = 0;
    expect(await pairUp(found)).toHaveLength(30);
    expect(turns).toBeGreaterThanOrEqual(30 * 30);
  } finally {
    clearImmediate(next);
  }
});

onBothDatabases('an import of files', (kind) => {
  const { here, send, call } = givenHistory(kind);

  const formOf = (files: Record<string, string>): FormData => {
    const form = new FormData();
    for (const [name, text] of Object.entries(files)) form.append('file', new Blob([text]), name);
    return form;
  };
  const bring = async (files: Record<string, string>) => {
    const { imported, files: told } = await call<CertificateImport>('POST', '/certificates/import', formOf(files));
    return { imported, told: Object.fromEntries(told.map(({ file, outcome }) => [file, outcome])), entries: told };
  };

  test('pairs by public key, whatever the files are called, and tells what became of each', async () => {
    const signed = makeNamesakes('signed.example.com');
    const old = makeCertificate(['bot.example.com'], { days: 5 });
    const fresh = makeCertificate(['bot.example.com'], { days: 50 });
    const [caddy, traefik] = [makeCertificate(['caddy.example.com']), makeCertificate(['traefik.example.com'])];
    const expired = makeCertificate(['old.example.com'], { days: -1 });
    const ownSigned = makeCertificate(['self.example.com'], { isAuthority: true });
    const locked = makeCertificate(['locked.example.com'], { passphrase: 'x' });
    const lonely = makeCertificate(['lonely.example.com']);
    const acme = { le: { Certificates: [{ certificate: base64(traefik.certificate), key: base64(traefik.key) }] } };
    const files = {
      'live/bot/fullchain.pem': fresh.certificate,
      'live/bot/privkey.pem': fresh.key,
      'archive/bot/cert1.pem': old.certificate,
      'archive/bot/privkey1.pem': old.key,
      'archive/bot/cert2.pem': fresh.certificate,
      'certificates/acme/caddy/caddy.crt': caddy.certificate,
      'certificates/acme/caddy/caddy.key': caddy.key,
      'certificates/acme/caddy/caddy.json': '{"sans":["caddy.example.com"]}',
      'acme.json': JSON.stringify(acme),
      'signed.cer': signed.certificate,
      'signed.key': signed.key,
      'ca.cer': signed.authority,
      'self.pem': ownSigned.certificate + ownSigned.key,
      'expired.pem': expired.certificate + expired.key,
      'locked.crt': locked.certificate,
      'locked.key': locked.key,
      'lonely.key': lonely.key,
      'broken.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      README: 'This directory contains your keys and certificates.',
    };
    const { imported, told, entries } = await bring(files);
    expect(told).toEqual({
      'live/bot/fullchain.pem': 'imported',
      'live/bot/privkey.pem': 'same',
      'archive/bot/cert1.pem': 'superseded',
      'archive/bot/privkey1.pem': 'same',
      'archive/bot/cert2.pem': 'same',
      'certificates/acme/caddy/caddy.crt': 'imported',
      'certificates/acme/caddy/caddy.key': 'same',
      'certificates/acme/caddy/caddy.json': 'ignored',
      'acme.json': 'imported',
      'signed.cer': 'imported',
      'signed.key': 'same',
      'ca.cer': 'authority',
      'self.pem': 'imported',
      'expired.pem': 'expired',
      'locked.crt': 'unpaired',
      'locked.key': 'refused',
      'lonely.key': 'unpaired',
      'broken.pem': 'refused',
      README: 'ignored',
    });
    expect(imported).toBe(5);
    expect(entries.find(({ file }) => file === 'locked.key')?.message).toContain('openssl pkey');
    const stored = await call<Certificate[]>('GET', '/certificates');
    expect(stored.map(({ name, provider }) => `${name} ${provider}`).sort()).toEqual([
      'bot.example.com custom',
      'caddy.example.com custom',
      'self.example.com custom',
      'signed.example.com custom',
      'traefik.example.com custom',
    ]);
    expect(JSON.stringify(entries)).not.toContain('PRIVATE');

    const again = await bring(files);
    expect(again.imported).toBe(0);
    expect(again.told).toMatchObject({ 'live/bot/fullchain.pem': 'present', 'acme.json': 'present' });
    expect(await call<Certificate[]>('GET', '/certificates')).toHaveLength(5);
  });

  test('completes a chain from other files, without the root', async () => {
    const { certificate, key, authority } = makeNamesakes('signed.example.com');
    await bring({ 'a.pem': certificate, 'b.pem': key, 'c.pem': authority });
    const [{ id } = { id: 0 }] = await call<Certificate[]>('GET', '/certificates');
    const { body } = await send<string>('GET', `/certificates/${id}/download`);
    // Its only issuer signed itself: who trusts that has it.
    expect(body).toBe(new X509Certificate(certificate).toString());
  });

  test('files made so that looking for issuers takes hours are refused, and what is wrong a thousand times is told once', async () => {
    const { certificate, key, authority } = makeIssued('signed.example.com');
    const bomb = [...copiesOf(authority, 110), ...copiesOf(certificate, 110), key].join('');
    expect(await send<ErrorBody>('POST', '/certificates/import', formOf({ 'bomb.pem': bomb }))).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('give fewer files at once') },
    });
    const broken = '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n'.repeat(1_000);
    const { entries } = await bring({ 'broken.pem': broken, 'more.pem': broken });
    expect(entries.map(({ file, outcome }) => [file, outcome])).toEqual([
      ['broken.pem', 'refused'],
      ['more.pem', 'refused'],
    ]);
  });

  test('refuses what is no such form, too many or too large files, and who may not', async () => {
    const refused = (form: unknown, headers = here().admin.headers) =>
      send<ErrorBody>('POST', '/certificates/import', form, headers);
    expect(await refused(new FormData())).toMatchObject({ status: 400, body: { error: 'file is required' } });
    expect((await refused({ file: 'x' })).status).toBe(400);
    const other = new FormData();
    other.append('files', new Blob(['x']), 'x.pem');
    expect(await refused(other)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('did you mean file') },
    });
    expect((await refused(formOf({ 'a.pem': 'x'.repeat(1_100_000) }))).status).toBe(413);
    const many = Object.fromEntries(Array.from({ length: 1_001 }, (_, index) => [`${index}.pem`, 'x']));
    expect((await refused(formOf(many))).status).toBe(413);
    const user = await here().caller();
    expect((await refused(formOf({ 'a.pem': 'x' }), user.headers)).status).toBe(403);
  });
});
