import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { makeCertificate } from '../../../../test/support/certificates.ts';
import { createCertificates } from '../database/certificates.ts';
import { lookAt, MOST_CERTIFICATES } from './pair.ts';

test('a certificate with its key tells its names; what is wrong with one is told without quoting it', () => {
  const { certificate, key } = makeCertificate(['App.test', '127.0.0.1', '*.b.test']);
  expect(lookAt({ certificate, key })).toEqual({ names: ['app.test', '*.b.test'] });
  expect(lookAt({ certificate: 'x', key })).toEqual({ wrong: 'can not be read' });
  const unreadable = { wrong: 'has a key that can not be read, or only with a password' };
  expect(lookAt({ certificate, key: 'x' })).toEqual(unreadable);
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const pem = (options: object) => String(privateKey.export({ type: 'pkcs8', format: 'pem', ...options }));
  expect(lookAt({ certificate, key: pem({}) })).toEqual({ wrong: 'has the key of another' });
  expect(lookAt({ certificate, key: pem({ cipher: 'aes-256-cbc', passphrase: 'x' }) })).toEqual(unreadable);
});

test('each is looked at once, and two thousand of a database at most', () => {
  let found = 0;
  const { of, taken } = createCertificates((id) => {
    found += 1;
    if (id === 7) return undefined;
    return { name: `c${id}`, pair: { certificate: 'x', key: 'x' }, advice: 'upload it' };
  });
  const place = { file: 'f', line: 1 };
  const says = (id: number) => of(id, place).losses.map(({ warning }) => warning.message);
  expect(of(0, place)).toEqual({ losses: [] });
  expect([says(7), says(7)]).toEqual(
    Array(2).fill(['its certificate 7 is not in the database: upload it, or let one be issued']),
  );
  expect(found).toBe(1);
  for (let id = 10; id < MOST_CERTIFICATES + 8; id += 1) of(id, place);
  expect(says(9_000)).toEqual(['its certificate c9000 can not be read: upload it']);
  expect(says(9_001)).toEqual(['its certificate c9001 is one of more than 2000: upload it']);
  expect(taken()).toEqual([]);
});
