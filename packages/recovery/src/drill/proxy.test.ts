import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { adminSocket } from '@sallyport/deployment/places';
import { banLines, limitEntries, NOTHING_ASKED, switchEntries } from '@sallyport/enforcement/entries';
import { createEnforcementMaps } from '@sallyport/enforcement/maps';
import { createAdminSocket } from '@sallyport/haproxy';
import type { Switches } from '@sallyport/store/security-switches';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { startProxy } from '../../test/support/start-proxy.ts';
import { openPendingNote } from '../pending.ts';
import { checkProxy, checkSwitches } from './proxy.ts';

const OFF: Switches = { guard: false, acl: false, waf: false, rate_limit: false, crowdsec: false };
const ON: Switches = { guard: true, acl: true, waf: true, rate_limit: true, crowdsec: true };
const FINE = { ok: true, message: 'HAProxy does what the five switches say' };

/** Access lists are asked about, and CrowdSec has banned somebody, when HAProxy starts. */
const withMaps = (
  work: (it: {
    maps: ReturnType<typeof createEnforcementMaps>;
    dataDir: string;
    /** Whether HAProxy does what is stored as this. */
    look: (stored: Partial<Switches>, base?: Switches) => ReturnType<typeof checkSwitches>;
  }) => Promise<void>,
) =>
  withTemporaryDirectory(async (dataDir) => {
    const admin = adminSocket(dataDir);
    const maps = createEnforcementMaps(dataDir, createAdminSocket({ path: admin }));
    mkdirSync(dirname(admin), { recursive: true });
    await maps.switches.write(switchEntries({ ...NOTHING_ASKED, judgeAccess: true }));
    await maps.limits.write(limitEntries(null));
    await maps.bans.write(banLines(new Map([['192.0.2.0/24', 'crowdsec/1']])));
    const look = (stored: Partial<Switches>, base = ON) => checkSwitches(dataDir, async () => ({ ...base, ...stored }));
    await work({ maps, dataDir, look });
  });

test('an HAProxy that takes commands is told from one that does not', () =>
  withMaps(async ({ dataDir }) => {
    expect(await checkProxy(dataDir)).toMatchObject({
      ok: false,
      message: expect.stringMatching(
        /: a reset opens it when it starts again; "sallyport status" tells about its process$/,
      ),
    });
    await startProxy(dataDir);
    expect(await checkProxy(dataDir)).toEqual({ ok: true, message: 'HAProxy takes commands' });
  }));

test('what HAProxy does is held against what is stored, and each difference is told', () =>
  withMaps(async ({ maps, dataDir, look }) => {
    await startProxy(dataDir);
    // A reset that waits is told at once: nothing settles before it is stored.
    const note = openPendingNote(dataDir, 'test');
    const waits = {
      ok: false,
      message: 'An emergency reset waits to be stored, and nothing is enforced until it is: see to the store',
    };
    expect(await look({ waf: false, rate_limit: false })).toEqual(FINE);
    note.write('2026-05-02T12:00:00.000Z');
    const differs = async (stored: Partial<Switches>, base?: Switches) =>
      expect(await look(stored, base)).toEqual(waits);
    await differs({ rate_limit: false });
    await differs({ waf: false });
    await differs({ acl: false, waf: false, rate_limit: false });
    await differs({ crowdsec: false, waf: false, rate_limit: false });
    await differs({ guard: false, waf: false, rate_limit: false });
    await maps.limits.replace(limitEntries({ requests: 5, burst: 1, windowSec: 60, bypass: [] }));
    await maps.switches.replace(switchEntries({ ...NOTHING_ASKED, judgeWaf: true }));
    expect(await look({ acl: false })).toEqual(FINE);
    await differs({ acl: false, rate_limit: false });
    // That nobody is banned at the moment is nothing to wonder about; that somebody is, is, when all is off.
    await maps.bans.replace(banLines(new Map()));
    expect(await look({ acl: false })).toEqual(FINE);
    await maps.bans.replace(banLines(new Map([['192.0.2.7', 'manual/1']])));
    expect(await look({ acl: false, crowdsec: false })).toEqual(FINE);
    await maps.limits.replace(limitEntries(null));
    await maps.switches.replace(switchEntries(NOTHING_ASKED));
    await differs({}, OFF);
    await maps.bans.replace(banLines(new Map()));
    expect(await look({}, OFF)).toEqual(FINE);
    note.write('');
    note.close();
  }));

test('a change that is on its way is waited for; what does not come is told in words', () =>
  withMaps(async ({ maps, dataDir }) => {
    await startProxy(dataDir);
    let looks = 0;
    const stored = async () => {
      looks += 1;
      if (looks === 2) await maps.bans.replace(banLines(new Map()));
      if (looks === 3) await maps.switches.replace(switchEntries(NOTHING_ASKED));
      return OFF;
    };
    expect(await checkSwitches(dataDir, stored)).toEqual(FINE);
    await maps.bans.replace(banLines(new Map([['192.0.2.0/24', 'crowdsec/1']])));
    const told = await checkSwitches(dataDir, async () => ({ ...ON, waf: false, rate_limit: false, crowdsec: false }));
    expect(told).toEqual({
      ok: false,
      message:
        'security.acl.enabled is not in force though it is stored as on; security.crowdsec.enabled is in force though it is stored as off: ' +
        'GET /api/v1/security/status tells what keeps it from being applied',
    });
  }));
