import { NOTIFICATION_DEFAULTS, type NotificationEvent } from '@sallyport/contract';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { systemLookup } from '../../../net/system-lookup.ts';
import { startWebhookServer } from '../../../testing/webhook-server.ts';
import { postWebhook } from './delivery.ts';
import { createNotifier, type Notifier } from './notifier.ts';

let hook: Awaited<ReturnType<typeof startWebhookServer>>;
let answer: () => number | Promise<number>;
let notifier: Notifier;
beforeAll(async () => {
  hook = await startWebhookServer(() => answer());
});
afterEach(async () => {
  await notifier.stop();
  hook.received.length = 0;
});
afterAll(() => hook.stop());

const event: NotificationEvent = {
  event_type: 'waf_block',
  severity: 'warn',
  timestamp: '2026-11-20T12:00:00.000Z',
  message: 'blocked',
  details: {},
};

/** A notifier that really posts, but does not wait long between tries. */
const start = (options: { backOffMs?: readonly number[]; capacity?: number } = {}) => {
  const fetch = createSafeFetch({ lookup: systemLookup, addressPolicy: hook.addressPolicy });
  const webhook_url = `${hook.url}/hook`;
  const settings = { ...NOTIFICATION_DEFAULTS, enabled: true, webhook_url, webhook_secret_set: false };
  notifier = createNotifier({
    targets: async () => ({ settings, post: (sent, signal) => postWebhook(fetch, settings, undefined, sent, signal) }),
    log: pino({ level: 'silent' }),
    backOffMs: [1, 5],
    ...options,
  });
  return notifier;
};

test('tries three times while the receiver is in trouble', async () => {
  const answers = [503, 429, 204];
  answer = () => answers.shift() ?? 500;
  start().notify(event);
  await eventually(() => notifier.counts()).toMatchObject({ delivered: 1, retried: 2, failed: 0 });
  expect(hook.received).toHaveLength(3);
});

test('gives up after the third', async () => {
  answer = () => 500;
  start().notify(event);
  await eventually(() => notifier.counts()).toMatchObject({ delivered: 0, retried: 2, failed: 1 });
  expect(hook.received).toHaveLength(3);
});

test('drops and counts what does not fit, and what waits when it stops', async () => {
  const release: (() => void)[] = [];
  answer = () => new Promise((resolve) => release.push(() => resolve(204)));
  start({ capacity: 3 });
  for (let count = 0; count < 10; count += 1) notifier.notify(event);
  expect(notifier.counts()).toMatchObject({ queued: 3, dropped: 3 });
  await eventually(() => release.length).toBe(4);
  // Deliveries that are under way are broken off: a receiver that never answers must not hold up the stop.
  await notifier.stop();
  expect(notifier.counts()).toMatchObject({ queued: 0, dropped: 6, failed: 4 });
  notifier.notify(event);
  expect(notifier.counts().queued).toBe(0);
  for (const each of release) each();
});
