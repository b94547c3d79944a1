import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { oracleFolder } from '../../../../test/support/ftw/oracle-folder.ts';

const urlDecoded = (text: string): string =>
  text
    .replaceAll('+', ' ')
    .replace(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

type Stage = {
  input?: { uri?: unknown; data?: unknown; headers?: Record<string, unknown>; encoded_request?: unknown };
};

const textsOf = ({ input }: Stage): unknown[] => [
  input?.uri,
  input?.data,
  ...Object.values(input?.headers ?? {}),
  typeof input?.encoded_request === 'string' ? Buffer.from(input.encoded_request, 'base64').toString('latin1') : null,
];

/**
 * The distinct strings that the CRS regression tests send, as Latin-1: URIs, header values, bodies, whole requests, and
 * the URL-decoded form of each. Sorted, so that a sample by stride is the same everywhere.
 */
export const readCrsStrings = (maxLength: number): string[] => {
  const strings = new Set<string>();
  for (const version of ['crs-3.3.4', 'crs-4'].filter((name) => existsSync(join(oracleFolder, name)))) {
    for (const file of globSync(join(oracleFolder, version, '*/*.yaml'))) {
      const document = parse(readFileSync(file, 'utf8'), { logLevel: 'silent', uniqueKeys: false });
      for (const test of document?.tests ?? []) {
        for (const entry of test.stages ?? []) {
          for (const text of textsOf(entry.stage ?? entry)) {
            if (typeof text !== 'string') continue;
            const bytes = Buffer.from(text, 'utf8').toString('latin1');
            for (const one of [bytes, urlDecoded(bytes)]) if (one.length <= maxLength) strings.add(one);
          }
        }
      }
    }
  }
  return [...strings].sort();
};
