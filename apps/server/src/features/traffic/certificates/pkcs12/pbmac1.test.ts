import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createRounds } from './derive.ts';
import { Pkcs12Problem } from './problem.ts';
import { readPkcs12 } from './read.ts';

/** The files of RFC 9579's appendix, by their titles there. */
const [, ...appendix] = readFileSync(new URL('rfc9579.txt', import.meta.url), 'utf8').split('\n\n');
const files = appendix.map((one): [title: string, file: Buffer] => {
  const end = one.indexOf('\n');
  return [one.slice(0, end), Buffer.from(one.slice(end), 'base64')];
});
const which = (what: string) => files.filter(([title]) => title.includes(what));
const read = (file: Buffer, password = '1234') => readPkcs12(file, password, createRounds().forFile());
const problemOf = (file: Buffer, password?: string) => {
  try {
    read(file, password);
  } catch (error) {
    if (error instanceof Pkcs12Problem) return error;
    throw error;
  }
  return undefined;
};

test.each(which(' valid'))('RFC 9579, %s: is read with its password alone', (_title, file) => {
  const { keys, certificates } = read(file);
  expect([keys.length, certificates.length]).toEqual([1, 1]);
  expect(new X509Certificate(certificates[0] ?? '').checkPrivateKey(createPrivateKey(keys[0] ?? ''))).toBe(true);
  expect(problemOf(file, '12345')).toMatchObject({ isLocked: true, message: 'has another password' });
  // What it protects is other than what was protected.
  const changed = Buffer.from(file);
  changed[1_000] = (changed[1_000] ?? 0) ^ 1;
  expect(problemOf(changed)).toMatchObject({ isLocked: true });
});

test.each(which(' invalid'))('RFC 9579, %s: is refused', (title, file) => {
  const message = title.startsWith('A.6')
    ? /^is damaged: the key of its integrity has no length$/
    : /^has another pass/;
  expect(problemOf(file)?.message).toMatch(message);
});

test('all six are there', () => {
  expect([which(' valid').length, which(' invalid').length]).toEqual([3, 3]);
});

test('a key of so few bytes that other passwords have the same is refused, and one longer than any hash', () => {
  const [, file = Buffer.alloc(0)] = which('A.1')[0] ?? [];
  // `INTEGER 32` in the parameters of PBKDF2, before its HMAC with SHA-256.
  const length = Buffer.from('020120300c06082a864886f70d0209', 'hex');
  const at = file.lastIndexOf(length) + 2;
  expect(at).toBeGreaterThan(2);
  for (const [bytes, message] of [
    [0, /integrity has 0 bytes$/],
    [1, /integrity has 1 bytes$/],
    [19, /integrity has 19 bytes$/],
    [20, /^has another password$/],
    [64, /^has another password$/],
    [65, /integrity has 65 bytes$/],
  ] as const) {
    const changed = Buffer.from(file);
    changed[at] = bytes;
    expect(problemOf(changed)?.message).toMatch(message);
  }
});
