import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { findCountryDatabase, openCountryDatabase } from './country-database.ts';

test('the packaged database knows countries, IPv4 and IPv6', () =>
  withTemporaryDirectory(async (dataDir) => {
    const path = findCountryDatabase(dataDir);
    const country = openCountryDatabase(path ?? '');
    expect(country('193.99.144.80')).toBe('DE');
    expect(country('2a02:2e0:3fe:1001:302::')).toBe('DE');
    expect(country('8.8.8.8')).toBe('US');
    expect(country('::1')).toBeNull();
  }));

test('a file that is no database stops the start instead of knowing nothing', () => {
  expect(() => openCountryDatabase(import.meta.filename)).toThrow();
});
