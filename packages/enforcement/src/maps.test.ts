import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAdminSocket } from '@sallyport/haproxy';
import { expect, onTestFinished, test } from 'vitest';
import { createEnforcementMaps } from './maps.ts';

test('each map has a file of its own, which says what it is for, where haproxy.cfg has it', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-maps-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const maps = createEnforcementMaps(dataDir, createAdminSocket({ path: join(dataDir, 'admin.sock') }));
  for (const map of Object.values(maps)) await map.write([['key', 'value']]);
  const files = Object.entries(maps).map(([name, { path }]) => [name, path.slice(dataDir.length)]);
  expect(Object.fromEntries(files)).toEqual({
    bans: '/haproxy/maps/bans.map',
    whitelist: '/haproxy/maps/whitelist.map',
    bypass: '/haproxy/maps/rate-limit-bypass.map',
    limits: '/haproxy/maps/rate-limits.map',
    switches: '/haproxy/maps/judging.map',
  });
  for (const { path } of Object.values(maps)) expect(readFileSync(path, 'utf8')).toMatch(/^# \w.{20,}\.\nkey value\n$/);
  await expect(maps.bans.commands.get('key')).rejects.toThrow(/did not answer/);
});
