import { expect, test } from 'vitest';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { collectCertificates, collectEverything } from './collect.ts';
import type { CertificateSource, HostRoute, RouteSource } from './source.ts';

const route = (id: number, originHost = 'origin'): HostRoute => ({
  id,
  originHost,
  originPort: 80,
  mayReachReserved: false,
  at: () => givenHost({ id, names: [`${originHost}-${id}.test`], origin: { port: 80 } }),
});
const certificate = (id: number): CertificateSource => ({
  version: '',
  id,
  open: () => {
    if (id === 13) throw new Error('sealed with another key');
    return { id, names: [], pem: '', notAfter: 0 };
  },
});

const given = async (stored: Map<number, HostRoute>, certificateIds: number[]) => {
  const source: RouteSource = {
    hostsById: async (ids) => ids.flatMap((id) => stored.get(id) ?? []),
    async *allHosts() {
      for (const one of [...stored.values()]) yield [one];
    },
    certificatesById: async () => [],
    allCertificates: async () => certificateIds.map(certificate),
    revision: async () => 1,
  };
  const openCertificate = (one: CertificateSource) => {
    try {
      return { ...one.open(), version: one.version };
    } catch {
      return undefined;
    }
  };
  const changed = { hosts: new Set<number>(), certificates: new Set<number>() };
  const desired = (one: HostRoute) => ({
    host: one.at(''),
    issue: one.originHost === 'nowhere' ? 'no address' : undefined,
  });
  const collected = await collectEverything({ source, desired, openCertificate, changed: () => changed });
  return { collected, changed, certificates: () => collectCertificates({ source, openCertificate }) };
};

test('all hosts are collected, with why some lead nowhere, and every certificate that can be opened', async () => {
  const { collected, certificates } = await given(
    new Map([1, 2].map((id) => [id, route(id, id === 2 ? 'nowhere' : 'a')])),
    [...[12, 13, 14]],
  );
  expect([...collected.hosts.keys()]).toEqual([1, 2]);
  expect([...collected.issues]).toEqual([[2, 'no address']]);
  expect(collected.certificates.map(({ id }) => id)).toEqual([12, 14]);
  expect((await certificates()).map(({ id }) => id)).toEqual([12, 14]);
});

test('what has changed meanwhile is as the store has it now, and nothing else is read again', async () => {
  const stored = new Map([1, 2, 3, 4].map((id) => [id, route(id, id === 3 ? 'nowhere' : 'old')]));
  const ids = [1];
  const { collected, changed } = await given(stored, ids);
  const before = collected.certificates;
  stored.set(1, route(1, 'nowhere')).set(3, route(3, 'new')).set(4, route(4, 'unnoticed')).set(5, route(5, 'new'));
  stored.delete(2);
  ids.push(2);
  for (const id of [1, 2, 3, 5]) changed.hosts.add(id);
  const latest = await collected.latest();
  expect(latest.hosts.map((change) => [change.type, change.type === 'put' ? change.host.names[0] : change.id])).toEqual(
    [
      ['put', 'nowhere-1.test'],
      ['remove', 2],
      ['put', 'new-3.test'],
      ['put', 'new-5.test'],
    ],
  );
  expect([...collected.hosts].map(([id, { names }]) => [id, names[0]])).toEqual([
    [4, 'old-4.test'],
    [1, 'nowhere-1.test'],
    [3, 'new-3.test'],
    [5, 'new-5.test'],
  ]);
  // What had an issue and has none any more, and the other way round.
  expect([...collected.issues.keys()]).toEqual([1]);
  expect(latest.certificates).toBe(before);
  changed.certificates.add(2);
  expect((await collected.latest()).certificates.map(({ id }) => id)).toEqual([1, 2]);
  expect(collected.certificates).toHaveLength(2);
});
