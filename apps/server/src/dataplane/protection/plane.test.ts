import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseConfig } from '@sallyport/deployment/config';
import { adminSocket, masterSocket, proxyDirectory, trafficSocket } from '@sallyport/deployment/places';
import { createAdminSocket, dataPlaneFiles, readProcessInfo } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../test/support/eventually.ts';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { startEchoOrigin } from '../../../../../test/support/haproxy/origins.ts';
import { ask } from '../../../../../test/support/http-client.ts';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { type Enforced, startEnforced } from '../../testing/start-enforced.ts';
import { readHeldLines } from './held-lines.ts';
import { reloadHaproxy } from './reload.ts';
import { tellsTraffic } from './traffic.ts';
import { readWindow } from './window.ts';

const APPLIED = { applied: true, issue: null };

const withProxy = (work: (enforced: Enforced, dataDir: string) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (dataDir) => {
    const enforced = await startEnforced(parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/'));
    await work(enforced, dataDir).finally(enforced.stop);
  });

test('what needs a reload has one, and no second one; what could not be reloaded is told and not kept', () =>
  withProxy(async (enforced, dataDir) => {
    const { plane } = enforced;
    const socket = createAdminSocket({ path: adminSocket(dataDir) });
    let pid = 0;
    /** Whether another process answers than before. */
    const isAnew = async () => {
      const { pid: now } = await readProcessInfo(socket);
      const is = pid !== now;
      pid = now;
      return is;
    };
    const limit = (windowSec: number, requests = 9) => ({ requests, burst: 1, windowSec, bypass: ['192.0.2.7'] });
    await isAnew();
    // The window that it was started with.
    expect([await plane.applyRateLimit(limit(60)), await isAnew()]).toEqual([APPLIED, false]);
    expect(await socket.ask({ words: ['show', 'map', dataPlaneFiles.bypassMap] })).toContain(' 192.0.2.7 ');
    expect([await plane.applyRateLimit(limit(30)), await isAnew()]).toEqual([APPLIED, true]);
    expect([await plane.applyRateLimit(limit(30)), await isAnew()]).toEqual([APPLIED, false]);
    expect(await plane.applyTraffic(false)).toEqual(APPLIED);
    expect([await isAnew(), tellsTraffic(dataDir)]).toEqual([false, false]);
    expect(await plane.applyTraffic(true)).toEqual(APPLIED);
    expect([await isAnew(), tellsTraffic(dataDir), readWindow(dataDir)]).toEqual([true, true, 30]);
    const written = () => readFileSync(join(proxyDirectory(dataDir), dataPlaneFiles.config), 'utf8');
    expect(written()).toContain(trafficSocket(dataDir));
    expect(written()).toContain('http_req_rate(30s)');

    rmSync(masterSocket(dataDir));
    await expect(reloadHaproxy(dataDir)).rejects.toThrow('ENOENT');
    expect(await plane.applyRateLimit(limit(45, 20))).toMatchObject({ applied: false });
    // A limit for one window never acts on another one.
    expect([await enforced.limit(), readWindow(dataDir)]).toEqual([10, 30]);
    expect(await plane.applyTraffic(false)).toMatchObject({ applied: false });
    expect([await isAnew(), tellsTraffic(dataDir)]).toEqual([false, true]);
  }));

test('HAProxy tells which guards are fit to judge, what had no verdict, and what it has logged', () =>
  withProxy(async (enforced, dataDir) => {
    const { plane } = enforced;
    const socket = createAdminSocket({ path: adminSocket(dataDir) });
    const origin = await startEchoOrigin('any');
    try {
      await enforced.serve(givenHost({ names: ['judged.test'], origin: { port: origin.port } }, { firewall: true }));
      const switches = { judgeAccess: true, judgeWaf: true, policy: 1, remembered: 1 };
      expect(await plane.unjudged()).toEqual({ refused: 0, passed: 0 });
      const seen = [];
      for (const failMode of ['closed', 'open', 'open'] as const) {
        expect(await plane.applySwitches({ ...switches, failMode })).toEqual(APPLIED);
        seen.push((await ask({ port: enforced.port, host: 'judged.test' })).status);
      }
      expect([seen, await plane.unjudged()]).toEqual([[503, 200, 200], { refused: 1, passed: 2 }]);
      await eventually(() => readHeldLines(socket)).toContainEqual(expect.stringContaining('"host":"judged.test"'));

      // The one guard of this set-up is in both halves. How HAProxy finds out is its own matter.
      const hold = async (half: string, health: string) => {
        await socket.ask({ words: ['disable', 'health', `guards_${half}/guard-0`] });
        await socket.ask({ words: ['set', 'server', `guards_${half}/guard-0`, 'health', health] });
      };
      await hold('even', 'up');
      await hold('odd', 'down');
      expect(await plane.judges()).toEqual({ total: 1, away: ['guard-0'] });

      await enforced.goAway();
      expect([await plane.judges(), await plane.unjudged(), await readHeldLines(socket)]).toEqual([
        undefined,
        undefined,
        [],
      ]);
    } finally {
      await origin.stop();
    }
  }));
