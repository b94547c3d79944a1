import type { Container } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { labelOf, originsOf } from './container-origins.ts';

const container = (fields: Partial<Container>): Container => ({
  id: '1',
  name: 'web',
  image: 'i',
  state: 'running',
  networks: [],
  ip: null,
  ports: [],
  ...fields,
});
const labels = (fields: Partial<Container>) => {
  const one = container(fields);
  return originsOf(one).map((origin) => labelOf(one, origin));
};
const tcp = (port: number, ...published: { ip: string; port: number }[]) => ({ port, protocol: 'tcp', published });

test('published ports come first, at one address each, then those of the container itself', () => {
  const everywhere = [
    { ip: '0.0.0.0', port: 18_080 },
    { ip: '::', port: 18_080 },
  ];
  const ports = [tcp(80, ...everywhere), tcp(443, { ip: '192.0.2.7', port: 18_443 }), tcp(9_000)];
  expect(labels({ ip: '172.18.0.2', ports })).toEqual([
    'web · http://127.0.0.1:18080',
    'web · https://192.0.2.7:18443',
    'web · http://172.18.0.2:80',
    'web · https://172.18.0.2:443',
    'web · http://172.18.0.2:9000',
  ]);
  expect(labels({ ports })).toEqual(['web · http://127.0.0.1:18080', 'web · https://192.0.2.7:18443']);
  expect(labels({ ports: [tcp(80, { ip: '::', port: 81 })] })).toEqual(['web · http://[::1]:81']);
});

test('what speaks no TCP is no origin, and what can not be reached offers none', () => {
  const udp = { port: 53, protocol: 'udp', published: [{ ip: '0.0.0.0', port: 53 }] };
  expect(labels({ ports: [udp] })).toEqual([]);
  expect(labels({ ports: [tcp(80)] })).toEqual([]);
  expect(labels({ ip: 'fd00::2', ports: [tcp(80)] })).toEqual(['web · http://[fd00::2]:80']);
  expect(labels({ ip: '172.17.0.2' })).toEqual(['web · 172.17.0.2']);
});
