import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { adminSocket } from '@sallyport/deployment/places';
import { banLines, limitEntries, NOTHING_ASKED, switchEntries } from '@sallyport/enforcement/entries';
import { APPLIED } from '@sallyport/enforcement/live-map';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { createAdminSocket } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../test/support/temporary-directory.ts';
import { startProxy } from '../test/support/start-proxy.ts';
import { openProxy } from './open-proxy.ts';

test('an HAProxy that runs asks nobody, and bans and limits nobody, from then on; its files stay as they are', () =>
  withTemporaryDirectory(async (dataDir) => {
    const admin = adminSocket(dataDir);
    const { switches, limits, bans } = createEnforcementMaps(dataDir, createAdminSocket({ path: admin }));
    mkdirSync(dirname(admin), { recursive: true });
    await switches.write(switchEntries({ ...NOTHING_ASKED, judgeAccess: true, judgeWaf: true }));
    await limits.write(limitEntries({ requests: 5, burst: 1, windowSec: 60, bypass: [] }));
    await bans.write(banLines(new Map([['192.0.2.0/24', 'own/1']])));
    const files = [switches, limits, bans].map(({ path }) => path);
    const before = files.map((path) => readFileSync(path, 'utf8'));
    await startProxy(dataDir);
    const held = async (map: typeof bans) => {
      const entries: [string, string][] = [];
      await map.commands.forEach((key, value) => void entries.push([key, value]));
      return entries.sort();
    };
    expect(await held(bans)).toContainEqual(['192.0.2.0/24', 'own/1']);

    expect(await openProxy(dataDir)).toEqual(APPLIED);
    expect(await held(switches)).toEqual(switchEntries(NOTHING_ASKED).sort());
    expect(await held(limits)).toEqual(limitEntries(null));
    expect(await held(bans)).toEqual(banLines(new Map()).sort());
    expect(files.map((path) => readFileSync(path, 'utf8'))).toEqual(before);
  }));

test('one that is away, or hangs up, is told as not open', () =>
  withTemporaryDirectory(async (dataDir) => {
    const away = { applied: false, issue: expect.stringMatching(/^HAProxy is not running: /) };
    expect(await openProxy(dataDir)).toEqual(away);
    mkdirSync(dirname(adminSocket(dataDir)), { recursive: true });
    const server = createServer((socket) => socket.destroy()).listen(adminSocket(dataDir));
    await once(server, 'listening');
    try {
      expect(await openProxy(dataDir)).toMatchObject({ applied: false, issue: expect.stringMatching(/HAProxy/) });
    } finally {
      server.close();
    }
  }));
