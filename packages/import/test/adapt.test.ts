import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { readCaddyfiles } from '@sallyport/caddyfile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCaddyfile } from '../src/index.ts';
import type { ImportedHost } from '../src/reading.ts';
import { type Caddy, startCaddy } from './caddy.ts';
import { readCorpus } from './corpus.ts';
import { DIFFERENCES } from './differences.ts';
import { type Served, servedByJson, servedByMeaning } from './served.ts';

/** What Caddyfiles of the corpus find in their environment. */
const ENVIRONMENT: Readonly<Record<string, string>> = { CORPUS_HOST: 'from-env.test', CORPUS_PORT: '9123' };

const cases = readCorpus();
const directory = mkdtempSync(join(tmpdir(), 'sallyport-caddy-'));
let caddy: Caddy;

beforeAll(async () => {
  const files = cases.flatMap((one) => one.files);
  caddy = await startCaddy(directory, files, ENVIRONMENT);
});
afterAll(async () => {
  await caddy?.stop();
  rmSync(directory, { recursive: true });
});

test('the corpus is one to learn from', () => {
  expect(cases.length).toBeGreaterThanOrEqual(150);
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
});

/** Whether Caddy sends requests for a name to where a host sends them, in the same way. */
const isServed = (served: readonly Served[], name: string, host: ImportedHost): boolean => {
  const { forward_host, forward_port, forward_scheme } = host;
  const address = forward_host.includes(':') ? `[${forward_host}]` : forward_host;
  const dials = [`${address}:${forward_port}`, ...(address === 'localhost' ? [`:${forward_port}`] : [])];
  return served.some(({ hosts, proxies }) => {
    const names = hosts.map((one) => domainToASCII(one));
    if (names.length > 0 && !names.includes(name) && !names.includes(name.replace(/^[^.]*/, '*'))) return false;
    return proxies.some((proxy) => {
      // A host has one upstream: the first, and of a range of ports the first.
      const first = (proxy.dials[0] ?? proxy.dynamic.replace(/^a (.*) (.*)$/, '$1:$2'))
        .toLowerCase()
        .replace(/-\d+$/, '');
      return proxy.tls === (forward_scheme === 'https') && dials.includes(first);
    });
  });
};

test('hosts, ports, schemes and upstreams are those that Caddy finds', async () => {
  const differing: string[] = [];
  for (const { name, content, files, forOldCaddy } of cases) {
    const adapted = await caddy.adapt(forOldCaddy ?? content);
    const sources = [{ name: 'Caddyfile', content }, ...files];
    const meaning = readCaddyfiles(sources, { lookUp: (variable) => ENVIRONMENT[variable] });
    const theirs = 'error' in adapted ? 'refused' : servedByJson(adapted.config);
    const ours = meaning.errors.length > 0 ? 'refused' : servedByMeaning(meaning);
    if (JSON.stringify(ours) !== JSON.stringify(theirs)) {
      differing.push(name);
      const why = meaning.errors.map(String);
      if (!Object.hasOwn(DIFFERENCES, name))
        expect.soft({ name, ours, why }).toEqual({ name, ours: theirs, why: adapted });
    } else if (theirs !== 'refused' && !content.includes('{$CORPUS')) {
      const { hosts, warnings } = readCaddyfile(sources);
      const strange = hosts.flatMap((host) =>
        host.domain
          .split(',')
          .filter((one) => !isServed(theirs, one, host))
          .map((one) => `${one} in ${name}`),
      );
      expect.soft(strange).toEqual([]);
      // What is served and no host is spoken of.
      const told = [...hosts.map(({ domain }) => domain), ...warnings.map(({ message }) => message)].join();
      expect
        .soft(
          theirs.flatMap((one) => one.hosts.map(domainToASCII)).filter((one) => !told.includes(one)),
          name,
        )
        .toEqual([]);
    }
  }
  expect(differing.toSorted()).toEqual(Object.keys(DIFFERENCES).toSorted());
}, 240_000);
