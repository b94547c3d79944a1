import { expect, test } from 'vitest';
import { createRefusedUpgrades } from './refused-upgrades.ts';
import type { SecurityEvent } from './security-event.ts';

test('an upgrade that a host refused is remembered for a day', () => {
  let now = Date.parse('2026-11-20T12:00:00.000Z');
  const refused = createRefusedUpgrades(() => new Date(now));
  const at = new Date(now).toISOString();
  const note = (layer: string, host_id: number | null) =>
    refused.note({ layer, host_id, timestamp: at } as SecurityEvent);
  note('websocket', 1);
  note('websocket', null);
  note('waf', 2);
  expect([refused.lastAt(1), refused.lastAt(2)]).toEqual([at, undefined]);
  now += 24 * 3_600_000;
  expect(refused.lastAt(1)).toBe(at);
  now += 1;
  expect(refused.lastAt(1)).toBeUndefined();
  for (let id = 1; id <= 10_001; id += 1) note('websocket', id);
  now -= 1;
  expect([refused.lastAt(1), refused.lastAt(2), refused.lastAt(10_001)]).toEqual([undefined, at, at]);
  // One that refuses again is not the one that was quiet longest.
  note('websocket', 2);
  note('websocket', 1);
  expect([refused.lastAt(2), refused.lastAt(3)]).toEqual([at, undefined]);
});
