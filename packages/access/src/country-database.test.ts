import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { writeCountryDatabase } from '../../../test/support/country-database.ts';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import {
  checkCountryDatabase,
  findCountryDatabase,
  openCountryDatabase,
  ownCountryDatabase,
} from './country-database.ts';

test('the packaged database knows countries, IPv4 and IPv6', () =>
  withTemporaryDirectory(async (dataDir) => {
    const path = findCountryDatabase(dataDir);
    const country = openCountryDatabase(path ?? '');
    expect(country('193.99.144.80')).toBe('DE');
    expect(country('2a02:2e0:3fe:1001:302::')).toBe('DE');
    expect(country('8.8.8.8')).toBe('US');
    expect(country('::1')).toBeNull();
  }));

test("an operator's own database goes before the packaged one", () =>
  withTemporaryDirectory(async (dataDir) => {
    const own = join(dataDir, 'geo/country.mmdb');
    expect(ownCountryDatabase(dataDir)).toBe(own);
    expect(findCountryDatabase(dataDir)).not.toBe(own);
    writeCountryDatabase(own, { '198.51.100.0/24': 'FR' }, (code) => ({ country_code: code }));
    expect(findCountryDatabase(dataDir)).toBe(own);
  }));

test.each([
  ['the code alone', (code: string) => ({ country_code: code })],
  ['a country with its code, as GeoLite2 does', (code: string) => ({ country: { iso_code: code } })],
  ['both', (code: string) => ({ country_code: code, country: { iso_code: 'XX' } })],
])('a database may hold %s, in small letters, too', (_what, toRecord) =>
  withTemporaryDirectory(async (dataDir) => {
    const own = ownCountryDatabase(dataDir);
    writeCountryDatabase(own, { '198.51.100.0/24': 'fr', '203.0.113.0/25': 'JP' }, toRecord);
    const country = openCountryDatabase(own);
    expect(['198.51.100.7', '203.0.113.7', '203.0.113.128', '192.0.2.1'].map(country)).toEqual([
      'FR',
      'JP',
      null,
      null,
    ]);
  }),
);

test('a record that names no country is none', () =>
  withTemporaryDirectory(async (dataDir) => {
    const own = ownCountryDatabase(dataDir);
    writeCountryDatabase(own, { '198.51.100.0/24': 'fr' }, (code) => ({ continent: { code } }));
    expect(openCountryDatabase(own)('198.51.100.7')).toBeNull();
  }));

test('a file that is no database stops the start instead of knowing nothing', () => {
  expect(() => openCountryDatabase(import.meta.filename)).toThrow();
  expect(() => checkCountryDatabase(import.meta.filename)).toThrow();
});

test('who rarely asks gets the same answers, from memory after the first', () =>
  withTemporaryDirectory(async (dataDir) => {
    const own = ownCountryDatabase(dataDir);
    writeCountryDatabase(own, { '198.51.100.0/24': 'FR' }, (code) => ({ country_code: code }));
    const country = checkCountryDatabase(own);
    expect(country('198.51.100.7')).toBe('FR');
    rmSync(own);
    expect([country('198.51.100.8'), country('192.0.2.1')]).toEqual(['FR', null]);
  }));
