import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { GuardConfig } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { createGuardConfigFile, guardConfigPath } from './guard-config-file.ts';

const content = (network: string): Omit<GuardConfig, 'revision'> => ({
  access: { enabled: false, lists: [] },
  waf: {
    enabled: false,
    mode: 'block',
    fail_mode: 'closed',
    rule_sources: [],
    exclusions: [],
    body_limit: 1,
  },
  admin_whitelist: [network],
  hosts: [],
});

const given = (work: (dataDir: string, path: string) => Promise<void>) =>
  withTemporaryDirectory((dataDir) => work(dataDir, guardConfigPath(dataDir)));

test('each content has a revision of its own, which goes on in the next process; the same one is not written again', () =>
  given(async (dataDir, path) => {
    const file = createGuardConfigFile(dataDir);
    expect(file.revision()).toBe(0);
    const seen: string[] = [];
    const write = (network: string) => file.write(content(network), async () => void seen.push(network));
    // Asked for at once they are written one after the other.
    const written = await Promise.all(['192.0.2.1/32', '192.0.2.2/32', '192.0.2.2/32', '192.0.2.1/32'].map(write));
    expect(written.map((config) => config?.revision)).toEqual([1, 2, undefined, 3]);
    expect(seen).toEqual(['192.0.2.1/32', '192.0.2.2/32', '192.0.2.1/32']);
    expect(file.revision()).toBe(3);
    expect(file.isIntact()).toBe(true);
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ revision: 3, ...content('192.0.2.1/32') });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    const next = createGuardConfigFile(dataDir);
    expect(next.revision()).toBe(3);
    expect(await next.write(content('192.0.2.1/32'))).toBeUndefined();
    expect(await next.write(content('192.0.2.3/32'))).toMatchObject({ revision: 4 });
  }));

test('what another process wrote is neither taken for ours nor counted back', () =>
  given(async (dataDir, path) => {
    const file = createGuardConfigFile(dataDir);
    await file.write(content('192.0.2.1/32'));
    writeFileSync(path, JSON.stringify({ revision: 41, ...content('192.0.2.2/32') }));
    expect(file.isIntact()).toBe(false);
    expect(await file.write(content('192.0.2.2/32'))).toBeUndefined();
    expect([file.revision(), file.isIntact()]).toEqual([41, true]);
    // An older one, put back: what guards read meanwhile must not pass for newer.
    writeFileSync(path, JSON.stringify({ revision: 7, ...content('192.0.2.1/32') }));
    expect(await file.write(content('192.0.2.3/32'))).toMatchObject({ revision: 42 });
    rmSync(path);
    expect(file.isIntact()).toBe(false);
    expect(await file.write(content('192.0.2.3/32'))).toMatchObject({ revision: 43 });
  }));

test.each(['{"revision": ', '{}', '{"revision": 1.5}', ''])(
  'after %j a revision follows that no guard has counted to',
  (text) =>
    given(async (dataDir, path) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      expect(createGuardConfigFile(dataDir).revision()).toBeGreaterThan(1_700_000_000);
    }),
);

test('a configuration that can not be written leaves nothing behind, and the next one is not in its way', () =>
  given(async (dataDir, path) => {
    const file = createGuardConfigFile(dataDir);
    mkdirSync(path);
    await expect(file.write(content('192.0.2.1/32'))).rejects.toThrow();
    expect(readdirSync(dirname(path))).toEqual(['config.json']);
    const { length } = String(file.revision());
    rmSync(path, { recursive: true });
    expect(String((await file.write(content('192.0.2.1/32')))?.revision)).toHaveLength(length);
  }));
