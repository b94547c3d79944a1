import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTlsEntries, type TlsTarget } from './tls-entries.ts';

const names = ['a.x.test', 'b.x.test', '*.x.test', 'x.test', 'a.y.test', '*.y.test'];
const host = fc.record({
  names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
  certificate: fc.option(fc.integer({ min: 1, max: 4 })),
  flags: fc.record({ http2_support: fc.boolean() }),
});
const certificates = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 1, max: 3 }),
    names: fc.uniqueArray(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }),
    notAfter: fc.integer({ min: 1, max: 2 }),
  }),
  { selector: ({ id }) => id },
);
type Host = typeof host extends fc.Arbitrary<infer T> ? T : never;

/** As HAProxy looks a name up: exact, then wildcard, then the default certificate. */
const served = (entries: ReadonlyMap<string, TlsTarget>, name: string): TlsTarget =>
  entries.get(name) ?? entries.get(`*${name.slice(name.indexOf('.'))}`) ?? { certificate: null, http2: true };

const withoutSharedNames = (hosts: readonly Host[]): Host[] => {
  const taken = new Set<string>();
  return hosts
    .map((each) => ({ ...each, names: each.names.filter((name) => !taken.has(name) && taken.add(name)) }))
    .filter((each) => each.names.length > 0);
};

describe('certificate entries', () => {
  test('every exact name of a host gets the chosen certificate, else the best match, and its own choice of HTTP/2', () => {
    fc.assert(
      fc.property(fc.array(host, { maxLength: 4 }).map(withoutSharedNames), certificates, (hosts, held) => {
        const tls = createTlsEntries();
        tls.reset(hosts, held);
        const best = (name: string): number | null =>
          held
            .filter((certificate) => certificate.names.includes(name))
            .toSorted((a, b) => b.notAfter - a.notAfter || b.id - a.id)[0]?.id ?? null;
        for (const { names: own, certificate, flags } of hosts) {
          const chosen = held.some(({ id }) => id === certificate) ? certificate : undefined;
          // A name that only the wildcard answers for.
          for (const name of own.filter((text) => text.startsWith('*'))) {
            expect(served(tls.entries, name.replace('*', 'other'))).toEqual({
              certificate: chosen ?? best(name),
              http2: flags.http2_support,
            });
          }
          for (const name of own.filter((text) => !text.startsWith('*'))) {
            expect(served(tls.entries, name)).toEqual({
              certificate: chosen ?? best(name) ?? best(`*${name.slice(name.indexOf('.'))}`),
              http2: flags.http2_support,
            });
          }
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('one change after the other ends where starting over does', () => {
    fc.assert(
      fc.property(
        fc.array(host, { maxLength: 4 }).map(withoutSharedNames),
        certificates,
        fc.array(fc.boolean(), { maxLength: 4 }),
        (hosts, held, removed) => {
          const tls = createTlsEntries();
          tls.reset([], held);
          let current: Host[] = [];
          const take = (before: Host | undefined, after: Host | undefined): void => {
            current = [...current.filter((each) => each !== before), ...(after ? [after] : [])];
            if (tls.change(before, after) === 'all') tls.reset(current, held);
          };
          for (const each of hosts) take(undefined, each);
          for (const [index, isRemoved] of removed.entries())
            if (isRemoved && hosts[index]) take(hosts[index], undefined);
          const fresh = createTlsEntries();
          fresh.reset(current, held);
          for (const name of names) expect(served(tls.entries, name)).toEqual(served(fresh.entries, name));
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
