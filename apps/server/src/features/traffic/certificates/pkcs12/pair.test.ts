import { createPrivateKey } from 'node:crypto';
import { systemActor } from '@sallyport/store/actor';
import { expect, test } from 'vitest';
import { makeCertificate, makeIssued } from '../../../../../../../test/support/certificates.ts';
import { makePkcs12, openPkcs12 } from '../../../../../../../test/support/pkcs12.ts';
import { createRounds, MOST_ROUNDS } from './derive.ts';
import { looksLikePkcs12 } from './looks.ts';
import { pairOfPkcs12 } from './pair.ts';
import { encodingsOf } from './password.ts';
import { readPkcs12 } from './read.ts';
import { createPkcs12Reader } from './reader.ts';
import { writePkcs12 } from './write.ts';

const PASSWORD = 'a password of ours';
const issued = makeIssued('signed.test');
const signed = {
  ...issued,
  key: createPrivateKey(issued.key).export({ type: 'pkcs8', format: 'pem' }) as string,
};
const other = makeCertificate(['other.test']);

test('an uploaded file is one key with the certificate that lasts longest, and is refused for anything else', async () => {
  const { certificate, key, authority } = signed;
  const pairOf = (keys: string[], certificates: string[]) => pairOfPkcs12({ keys, certificates }, PASSWORD);
  const refused = (keys: string[], certificates: string[]) =>
    pairOf(keys, certificates).catch((error) => error.message);
  expect(await pairOf([key, key], [authority, certificate])).toMatchObject({ names: ['signed.test'], keyPem: key });
  expect(await refused([], [certificate])).toBe('pkcs12_file holds no private key');
  expect(await refused([key], [])).toBe('pkcs12_file holds a private key, but no certificate');
  expect(await refused([key, other.key], [certificate])).toMatch(/^pkcs12_file holds 2 private keys/);
  expect(await refused([key], [other.certificate])).toMatch(/^pkcs12_file holds no certificate of a server/);
  const problem = 'is empty';
  await expect(pairOfPkcs12({ problem, isLocked: false }, PASSWORD)).rejects.toMatchObject({
    ...{ status: 400, message: 'pkcs12_file is empty' },
  });
  for (const [password, message] of [
    ['', 'pkcs12_password is required: the file needs one'],
    [PASSWORD, 'pkcs12_password is wrong'],
  ] as const) {
    await expect(pairOfPkcs12({ problem, isLocked: true }, password)).rejects.toMatchObject({ status: 400, message });
  }
  await expect(pairOfPkcs12(undefined, '')).rejects.toThrow('without an outcome');
});

test('files are read in a thread, each with the first of the passwords that opens it', async () => {
  const files = [
    makePkcs12(signed, { password: PASSWORD }),
    makePkcs12(other, { password: 'another' }),
    makePkcs12(other, { password: 'nobody knows' }),
    Buffer.from('no such file'),
  ];
  const [first, second, ...bad] = await createPkcs12Reader()(files, [PASSWORD, 'another'], systemActor('test'));
  expect([first, second]).toMatchObject([{ keys: [signed.key] }, { keys: [expect.stringContaining('PRIVATE KEY')] }]);
  expect(bad).toEqual([
    { problem: 'has another password', isLocked: true },
    { problem: 'is no PKCS #12', isLocked: false },
  ]);
});

test('what is written OpenSSL reads, and we do; with the name, and the key beside its certificate', () => {
  const { certificate, key, authority } = signed;
  const bytes = writePkcs12({ name: 'Größe 😀', chainPem: certificate + authority, keyPem: key }, PASSWORD);
  const { keys, certificates } = readPkcs12(bytes, PASSWORD, createRounds().forFile());
  expect([keys, certificates]).toEqual([[key], [certificate, authority]]);
  const text = openPkcs12(bytes, PASSWORD);
  expect(text).toContain(key);
  expect(text.match(/friendlyName/g)).toHaveLength(2);
  // One that is sent in clear would hold the key as it is.
  expect(bytes.toString('latin1')).not.toContain('signed.test');
  expect(() => openPkcs12(bytes, 'another')).toThrow();
  expect(() => writePkcs12({ name: 'x', chainPem: '', keyPem: key }, PASSWORD)).toThrow('no certificate');
});

test('what a file may ask for ends where it is said to, and each password is tried once for each way to write it', () => {
  const rounds = createRounds().forFile();
  rounds.take(MOST_ROUNDS / 2, 2);
  expect(() => rounds.take(1, 1)).toThrow('more than 5,000,000 times');
  expect(() => createRounds().forFile().take(0, 1)).toThrow('0 times');
  expect(encodingsOf('ascii')).toHaveLength(1);
  expect(encodingsOf('größe').map(({ utf16 }) => utf16.length)).toEqual([12, 16]);
  expect(encodingsOf('').map(({ utf16 }) => utf16.length)).toEqual([2, 0]);
});

test('a file is known by how it begins, even one that is cut off within its length', () => {
  const whole = makePkcs12(signed, { password: PASSWORD, how: ['-macalg', 'sha384'] });
  expect(readPkcs12(whole, PASSWORD, createRounds().forFile()).keys).toEqual([signed.key]);
  expect(looksLikePkcs12(whole)).toBe(true);
  expect(looksLikePkcs12(Buffer.concat([Buffer.from([0x31]), whole.subarray(1)]))).toBe(false);
  for (const hex of ['308602010330', '308002010330']) {
    const read = () => readPkcs12(Buffer.from(hex, 'hex'), PASSWORD, createRounds().forFile());
    expect(read, hex).toThrow(/^is damaged/);
  }
});
