import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CommandFailure } from '../failure.ts';
import { readCertificateFiles } from './certificate-files.ts';

const PEM = '-----BEGIN CERTIFICATE-----\n';
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sallyport-files-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const put = (path: string, text: string): void => {
  mkdirSync(join(directory, path, '..'), { recursive: true });
  writeFileSync(join(directory, path), text, 'latin1');
};
const read = (...paths: string[]): string[] =>
  readCertificateFiles(paths.map((path) => join(directory, path))).map(({ path }) => path.slice(directory.length + 1));

test('files that may hold certificates or keys, at and below the paths, behind links, each once', () => {
  put('archive/bot/cert1.pem', PEM);
  put('archive/bot/README', 'no keys here');
  put('archive/acme.json', '{"le":{"Certificates":[]}}');
  put('archive/other.json', '{"sans":[]}');
  put('archive/windows.PFX', 'damaged');
  put('archive/keystore', '0\u0082\u0001\u0000\u0002\u0001\u00030');
  put('archive/some.der', '0\u0082\u0001\u00000\u0082');
  put('archive/empty.pem', '');
  put('archive/huge.pem', PEM + 'x'.repeat(1024 * 1024));
  mkdirSync(join(directory, 'live'));
  symlinkSync('../archive/bot/cert1.pem', join(directory, 'live/cert.pem'));
  symlinkSync('../archive/bot/gone.pem', join(directory, 'live/gone.pem'));
  expect(read('live', 'archive')).toEqual([
    ...['live/cert.pem', 'archive/acme.json', 'archive/bot/cert1.pem'],
    ...['archive/keystore', 'archive/windows.PFX'],
  ]);
  expect(read('archive/bot', 'archive/bot/cert1.pem')).toEqual(['archive/bot/cert1.pem']);
});

test('links to directories above, and to themselves, lead nowhere else', () => {
  put('a/b/cert.pem', PEM);
  // Two of them in a directory would double what there is to look at with each of forty steps.
  for (const name of ['one', 'two', 'three']) symlinkSync('..', join(directory, 'a/b', name));
  symlinkSync('itself', join(directory, 'a/itself'));
  expect(read('a')).toEqual(['a/b/cert.pem']);
});

test('what is not there, or holds nothing, is said', () => {
  mkdirSync(join(directory, 'nothing'));
  expect(() => read('nowhere')).toThrow(CommandFailure);
  expect(() => read('nowhere')).toThrow(/ENOENT/);
  expect(() => read('nothing')).toThrow(/^no certificate and no key in /);
});
