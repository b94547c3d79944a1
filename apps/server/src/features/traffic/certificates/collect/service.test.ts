import { createHash, createPrivateKey, webcrypto, X509Certificate } from 'node:crypto';
import { loadX509 } from '@sallyport/acme';
import { createSelfSignedCertificate } from '@sallyport/haproxy';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { rememberRevoked } from '@sallyport/store/revoked-certificates';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, test } from 'vitest';
import { makeCertificate, makeIssued } from '../../../../../../../test/support/certificates.ts';
import { withStore } from '../../../../testing/with-store.ts';
import { makeAuthority } from '../../internal-ca/authority.ts';
import { createCertificates } from '../service.ts';
import { certificateStore } from '../store.ts';
import { jsonPairs } from './json-pairs.ts';
import { openPkcs12 } from './open-pkcs12.ts';
import { pairUp } from './pair-up.ts';
import { pemBlocks } from './pem-blocks.ts';
import { readFiles } from './read-files.ts';
import { createCollect } from './service.ts';

const ACTOR = systemActor('test');
const NOW = Date.parse('2026-05-02T12:00:00.000Z');
const DAY_MS = 86_400_000;
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Self-signed, valid from a day ago. */
const makePair = (names: [string, ...string[]], validDays = 30) =>
  createSelfSignedCertificate({ names, validFrom: new Date(NOW - DAY_MS), validDays });

const filesOf = (texts: Record<string, string>) => Object.entries(texts).map(([file, text]) => ({ file, text }));

test('a JSON text gives its certificates with their keys, in base64 or as they are, eight levels down and no deeper', () => {
  const [certificate, key] = ['-----BEGIN CERTIFICATE-----', '-----BEGIN PRIVATE KEY-----'];
  const pair = `${certificate}\n${key}`;
  const within = (levels: number): string =>
    JSON.stringify(
      Array.from({ length: levels }).reduce<object>((inner) => ({ inner }), { certificate, key: base64(key) }),
    );
  expect(
    jsonPairs(
      ` \n${JSON.stringify({
        le: [
          { Certificate: base64(certificate), KEY: key },
          { certificate, key },
        ],
      })}`,
    ),
  ).toEqual([pair, pair]);
  expect([8, 9].map((levels) => jsonPairs(within(levels)))).toEqual([[pair], []]);
  // One that is empty ends nothing.
  expect(jsonPairs(JSON.stringify({ before: null, le: { certificate, key } }))).toEqual([pair]);
  for (const half of [
    { certificate },
    { key },
    { certificate: base64('no certificate'), key },
    { certificate, key: base64('no key') },
    { certificate: 7, key },
    null,
  ]) {
    expect(jsonPairs(JSON.stringify({ half })), JSON.stringify(half)).toEqual([]);
  }
  for (const text of [
    `[${JSON.stringify({ certificate, key })}]`,
    `{"a": ${JSON.stringify({ certificate, key })}`,
    '{',
    '',
  ]) {
    expect(jsonPairs(text), text).toEqual([]);
  }
});

test('certificates and keys are found in any file, each once; what can not be read is told once for each file', async () => {
  const { certificate, key } = await makePair(['a.test']);
  const old = createPrivateKey(key).export({ type: 'sec1', format: 'pem' }) as string;
  const block = (label: string, head = '') => `-----BEGIN ${label}-----\n${head}AAAA\n-----END ${label}-----\n`;
  const locked = block('ENCRYPTED PRIVATE KEY');
  const found = await readFiles(
    filesOf({
      'a.pem': certificate + certificate + key,
      'again.pem': `text\n${certificate}${old}${old}`,
      'json.json': JSON.stringify({ certificate, key }),
      'locked.pem': locked + locked,
      'old.pem': block('EC PRIVATE KEY', 'Proc-Type: 4,ENCRYPTED\n'),
      'broken.pem': block('PRIVATE KEY') + block('CERTIFICATE') + block('TRUSTED CERTIFICATE'),
      'others.pem': block('PUBLIC KEY') + block('DH PARAMETERS') + block('CERTIFICATE REQUEST'),
    }),
  );
  const all = ['a.pem', 'again.pem', 'json.json'];
  expect([...found.certificates.values()].map(({ files }) => files)).toEqual([all]);
  expect([...found.keys].map(([digest, { pem, files }]) => [digest, pem, files])).toEqual([
    [expect.stringMatching(/^[\w-]{43}$/), key, all],
  ]);
  expect([...found.certificates.values()][0]?.key).toBe([...found.keys.keys()][0]);
  expect(found.refused.map(({ file, message }) => `${file}: ${message}`)).toEqual([
    expect.stringMatching(/^locked\.pem: the key is encrypted/),
    expect.stringMatching(/^old\.pem: the key is encrypted/),
    'broken.pem: a private key in it can not be read',
    'broken.pem: a certificate in it can not be read',
  ]);
});

test('a chain is completed from other files, and an authority that came with its key is no server', async () => {
  const { certificate, key, authority } = makeIssued('signed.test');
  const stranger = makeIssued('signed.test').authority;
  const texts = { 'a.pem': authority + stranger, 'b.key': key, 'c.pem': certificate };
  const [pair, ...more] = await pairUp(await readFiles(filesOf(texts)));
  expect(more).toEqual([]);
  // Of two that are called the same, the one that signed it.
  expect(pair?.chainPem).toBe([certificate, authority].map((pem) => new X509Certificate(pem).toString()).join(''));
  const root = await makeAuthority('here', new Date(NOW));
  expect(await pairUp(await readFiles(filesOf({ 'root.pem': root.rootPem + root.keyPem })))).toEqual([]);
  // What OpenSSL makes for a server says that it is one, too.
  const own = makeCertificate(['ca.test'], { isAuthority: true });
  expect(await pairUp(await readFiles(filesOf({ 'own.pem': own.certificate + own.key })))).toHaveLength(1);
});

test('of authorities that are called the same the one that signed is taken, and its root is left out', async () => {
  const x509 = await loadX509();
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  type Keys = Awaited<ReturnType<typeof newKeys>>;
  /** Without identifiers of keys: only the signature tells namesakes apart. */
  const certify = async (subject: string, { publicKey }: Keys, issuer: string, { privateKey }: Keys) => {
    const certificate = await x509.X509CertificateGenerator.create({
      ...{ subject, issuer, publicKey, signingKey: privateKey, signingAlgorithm: algorithm },
      ...{ notBefore: new Date(NOW), notAfter: new Date(NOW + DAY_MS) },
    });
    return `${certificate.toString('pem')}\n`;
  };
  const [root, one, other, leaf] = [await newKeys(), await newKeys(), await newKeys(), await newKeys()];
  const rootPem = await certify('CN=Root', root, 'CN=Root', root);
  const namesake = await certify('CN=Same', other, 'CN=Root', root);
  const signer = await certify('CN=Same', one, 'CN=Root', root);
  const server = await certify('CN=a.test', leaf, 'CN=Same', one);
  const pkcs8 = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey));
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }).export({ type: 'pkcs8', format: 'pem' });
  const chains = async (...pems: string[]) =>
    (await pairUp(await readFiles(filesOf(Object.fromEntries([...pems, `${key}`].entries()))))).map((pair) =>
      pemBlocks(pair.chainPem).map(({ text }) => text),
    );
  const shown = (...pems: string[]) => pems.map((pem) => pemBlocks(pem)[0]?.text);
  expect(await chains(rootPem, namesake, signer, server)).toEqual([shown(server, signer)]);
  expect(await chains(rootPem, namesake, server)).toEqual([shown(server)]);
  // Two that certify each other go round once.
  const crossed = await certify('CN=Root', root, 'CN=Same', one);
  expect(await chains(crossed, signer, server)).toEqual([shown(server, signer, crossed)]);
});

test('a block begins at the beginning of a line, and ends with its own end', () => {
  const block = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  expect(pemBlocks(`text\n  ${block}text`)).toEqual([{ label: 'CERTIFICATE', text: block }]);
  for (const text of [`x${block}`, block.replace('-----\n', '-----x\n'), block.replace('END', 'END MY')]) {
    expect(pemBlocks(text), text).toEqual([]);
  }
});

test('a PKCS #12 file is known by how it begins, or by its name; what is in it stands in its place', async () => {
  const begins = Buffer.from([0x30, 0x82, 1, 2, 2, 1, 3, 0x30, 0x82]).toString('latin1');
  const given = filesOf({
    'looks.bin': begins,
    'named.PFX': 'nothing of the kind',
    'pem.p12': '-----BEGIN CERTIFICATE-----',
    pfx: 'text',
    'a.pem': 'text',
  });
  const asked: [string[], readonly string[]][] = [];
  const { opened, refused } = await openPkcs12(given, ['secret'], ACTOR, async (files, passwords) => {
    asked.push([files.map((bytes) => bytes.toString('latin1')), passwords]);
    return [
      { keys: ['KEY'], certificates: ['LEAF', 'CA'] },
      { problem: 'has another password', isLocked: true },
    ];
  });
  // One without a password is opened, too.
  expect(asked).toEqual([
    [
      [begins, 'nothing of the kind'],
      ['secret', ''],
    ],
  ]);
  expect(opened.map(({ file, text }) => `${file}: ${text}`)).toEqual([
    'looks.bin: KEY\nLEAF\nCA',
    'named.PFX: ',
    'pem.p12: -----BEGIN CERTIFICATE-----',
    'pfx: text',
    'a.pem: text',
  ]);
  expect(refused).toEqual([{ file: 'named.PFX', message: 'it has another password', isLocked: true }]);
  await expect(openPkcs12(given, [], ACTOR, async () => [])).rejects.toThrow('without an outcome');
  const none = await openPkcs12(filesOf({ 'a.pem': 'text' }), [], ACTOR, () => expect.unreachable('none is there'));
  expect(none).toEqual({ opened: filesOf({ 'a.pem': 'text' }), refused: [] });
});

test('what is good is stored and handed to the proxy; of each file it is told what became of it', () =>
  withStore(async ({ kysely: db, transact, transactAside }) => {
    const vault = createVault('a key of the deployment, long enough');
    const [clock, synced, recorded] = [() => new Date(NOW), [] as number[][], [] as ChangeEntry[]];
    const plane = {
      syncCertificates: async (ids: readonly number[]) => void synced.push([...ids]),
      certificateState: () => ({ applied: true, issue: null }),
    };
    const { within } = createCertificates({
      ...{ db, transact, transactAside, store: certificateStore, vault, plane, clock },
      backUp: () => expect.unreachable('nothing is removed'),
      record: async (_tx, entry) => void recorded.push(entry),
    });
    const collect = createCollect({
      ...{ transact, store: certificateStore, create: within.create, plane, clock },
      readPkcs12: async () => [{ problem: 'has another password', isLocked: true }],
    });
    const bring = async (texts: Record<string, string>) => {
      const { imported, files } = await collect({ files: filesOf(texts), passwords: [] }, ACTOR);
      return { imported, files, told: files.map(({ file, outcome }) => `${file} ${outcome}`) };
    };
    const stored = () => db.selectFrom('certificates').selectAll().orderBy('id').execute();

    const [long, short, ended, lonely] = [
      await makePair(['b.test', 'a.test'], 30),
      await makePair(['a.test', 'b.test'], 20),
      // It ends now, and what ends now is over.
      await makePair(['ended.test'], 1),
      await makePair(['lonely.test']),
    ];
    const revoked = await makePair(['revoked.test']);
    await transact((tx) => rememberRevoked(tx, revoked.certificate, new Date(NOW).toISOString()));
    const { authority } = makeIssued('signed.test');
    const texts = {
      'short.pem': short.certificate + short.key,
      'long.pem': long.certificate,
      'copy.pem': long.certificate,
      'long.key': long.key,
      'ended.pem': ended.certificate + ended.key,
      'revoked.pem': revoked.certificate + revoked.key,
      'lonely.pem': lonely.certificate,
      'other.key': (await makePair(['other.test'])).key,
      'ca.pem': authority,
      'broken.pem': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
      'locked.pfx': 'x',
      README: 'nothing',
    };
    const first = await bring(texts);
    expect(first.imported).toBe(2);
    expect(first.told.sort()).toEqual(
      [
        'short.pem superseded',
        'long.pem imported',
        'copy.pem same',
        'long.key same',
        'ended.pem expired',
        'revoked.pem imported',
        'lonely.pem unpaired',
        'other.key unpaired',
        'ca.pem authority',
        'broken.pem refused',
        'locked.pfx locked',
        'README ignored',
      ].sort(),
    );
    const [one, two] = await stored();
    expect(synced).toEqual([[one?.id, two?.id]]);
    expect(one).toMatchObject({
      ...{ name: 'b.test', provider: 'custom', domains: 'b.test,a.test', is_placeholder: 0, revoked_at: null },
      not_before: new Date(NOW - DAY_MS).toISOString(),
      expires_at: new Date(NOW + 29 * DAY_MS).toISOString(),
      created_at: new Date(NOW).toISOString(),
    });
    const handedOut = await certificatesKey(within, db, one?.id ?? 0);
    expect(handedOut).toBe(digest(long.key));
    const fate = (file: string) => first.files.find((entry) => entry.file === file);
    expect(fate('long.pem')).toMatchObject({ certificate_id: one?.id, message: 'for b.test, a.test' });
    for (const file of ['copy.pem', 'long.key']) expect(fate(file)?.certificate_id).toBe(one?.id);
    expect(fate('short.pem')).toMatchObject({
      certificate_id: null,
      message: expect.stringMatching(/^long\.pem has one/),
    });
    expect(fate('ended.pem')?.message).toBe(`it expired on ${new Date(NOW).toISOString()}`);
    expect(fate('revoked.pem')?.message).toMatch(/^for revoked\.test\. .*revoked/i);
    expect(fate('lonely.pem')?.message).toContain('lonely.test');
    expect(recorded.map(({ action }) => action)).toEqual(['certificate.upload', 'certificate.upload']);

    // Again: it is there, by the certificate; nothing is told the proxy.
    const again = await bring(texts);
    expect(again.imported).toBe(0);
    expect(again.files.find(({ file }) => file === 'long.pem')).toMatchObject({
      outcome: 'present',
      certificate_id: one?.id,
    });
    expect([synced.length, (await stored()).length]).toEqual([1, 2]);
    // In whatever order they come.
    const reversed = await bring(Object.fromEntries(Object.entries(texts).reverse()));
    expect(reversed.told).toEqual(expect.arrayContaining(['copy.pem present', 'short.pem superseded']));
  }));

const digest = (key: string) =>
  createHash('sha256')
    .update(createPrivateKey(key).export({ type: 'pkcs8', format: 'der' }))
    .digest('hex');

const certificatesKey = async (
  within: ReturnType<typeof createCertificates>['within'],
  db: Parameters<typeof within.current>[0],
  id: number,
) => digest(((await within.current(db, id)) as { key_pem: string }).key_pem);
