import { expect, test } from 'vitest';
import * as places from './places.ts';

// Processes that an earlier version started, and that are adopted, go on using these.
test('everything is where earlier versions put it', () => {
  const { defaultGuards, guardFiles, ...single } = places;
  const found = Object.fromEntries(Object.entries(single).map(([name, place]) => [name, place('/data')]));
  expect(found).toEqual({
    envFile: '/data/.env',
    guardConfigFile: '/data/guard/config.json',
    logSocket: '/data/run/log.sock',
    trafficSocket: '/data/run/traffic.sock',
    apiSocket: '/data/run/api.sock',
    proxyDirectory: '/data/haproxy',
    adminSocket: '/data/haproxy/admin.sock',
    returnSocket: '/data/haproxy/relayed.sock',
    spoolDirectory: '/data/spool',
    spoeFile: '/data/haproxy/spoe.cfg',
    masterSocket: '/data/haproxy/master.sock',
    restoresFile: '/data/haproxy/restores',
    trafficFile: '/data/haproxy/tells-traffic',
    unretiredFile: '/data/haproxy/unretired',
    windowFile: '/data/haproxy/rate-limit-window',
  });
  expect(guardFiles('/data', 3)).toEqual({
    agent: '/data/run/guard-3.sock',
    relay: '/data/run/relay-3.sock',
    control: '/data/run/guard-3.ctl',
    counters: '/data/run/guard-3.counters',
  });
});
