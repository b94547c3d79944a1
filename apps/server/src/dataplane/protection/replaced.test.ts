import { once } from 'node:events';
import { connect } from 'node:net';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { expect, test } from 'vitest';
import { eventually } from '../../../../../test/support/eventually.ts';
import { givenHost } from '../../../../../test/support/haproxy/given.ts';
import { emptyStore } from '../../testing/start-app.ts';
import { startEnforced } from '../../testing/start-enforced.ts';
import { askMaster } from './master.ts';
import { createEnforcementPlane } from './plane.ts';
import { reloadHaproxy } from './reload.ts';

const APPLIED = { applied: true, issue: null };
const limit = { requests: 9, burst: 1, windowSec: 30, bypass: [] };

test('a process that was replaced knows no host any more, though the server ended after the reload and the limit was switched off meanwhile', () =>
  emptyStore('sqlite', async (given) => {
    const enforced = await startEnforced(given);
    const { config, port } = enforced;
    const { dataDir } = config;
    try {
      await enforced.serve(givenHost({ id: 1, names: ['shop.test'], origin: { port: 9 } }));
      // A request that does not end keeps the process.
      const client = connect(port, '127.0.0.1');
      await once(client, 'connect');
      client.write('GET / HTTP/1.1\r\nHost: shop.test\r\n');
      const processes = await askMaster(dataDir, 'show proc');
      const [, pid] = /^# workers\n(\d+)/m.exec(processes) ?? [];
      const ending = createEnforcementPlane({
        config,
        driver: {
          async reload() {
            await reloadHaproxy(dataDir);
            throw new Error('the server ended');
          },
        },
      });
      await eventually(() => ending.applyRateLimit(limit)).toMatchObject({ issue: 'the server ended' });
      await ending.stop();
      const known = async () => {
        const { hostsMap, overlayMap } = dataPlaneFiles;
        const shown = [hostsMap, overlayMap].map((map) => askMaster(dataDir, `@!${pid} show map ${map}`));
        return (await Promise.all(shown)).join('').trim();
      };
      // The master starts itself anew for a reload.
      await eventually(known).toContain('shop.test');
      await eventually(() => enforced.plane.applyRateLimit(null)).toEqual(APPLIED);
      expect(await known()).toBe('');
      client.destroy();
    } finally {
      await enforced.stop();
    }
  }));
