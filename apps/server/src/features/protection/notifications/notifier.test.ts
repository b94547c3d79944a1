import { NOTIFICATION_DEFAULTS, type NotificationEvent } from '@sallyport/contract';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../../../test/support/eventually.ts';
import { createSafeFetch } from '../../../net/safe-fetch.ts';
import { systemLookup } from '../../../net/system-lookup.ts';
import { startWebhookServer } from '../../../testing/webhook-server.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { postWebhook } from './delivery.ts';
import { createNotifier, type DeliveryTargets, type Notifier } from './notifier.ts';

let hook: Awaited<ReturnType<typeof startWebhookServer>>;
let answer: () => number | Promise<number>;
let notifier: Notifier;
let deliveries: Deliveries;
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

/** A notifier that really posts, but does not wait long between tries, unless it is patient. */
const start = ({
  mail,
  isPatient = false,
  ...options
}: { isPatient?: boolean; backOffMs?: readonly number[]; capacity?: number } & Pick<DeliveryTargets, 'mail'> = {}) => {
  const fetch = createSafeFetch({ lookup: systemLookup, addressPolicy: hook.addressPolicy });
  const webhook_url = `${hook.url}/hook`;
  const settings = { ...NOTIFICATION_DEFAULTS, enabled: true, webhook_url, webhook_secret_set: false };
  deliveries = createDeliveries(() => new Date('2026-11-20T12:00:01.000Z'));
  notifier = createNotifier({
    deliveries,
    targets: async () => ({
      settings,
      post: (sent, signal) => postWebhook(fetch, settings, undefined, sent, signal),
      ...(mail && { mail }),
    }),
    log: pino({ level: 'silent' }),
    ...(isPatient ? {} : { backOffMs: [1, 5] }),
    ...options,
  });
  return notifier;
};

test('a way of sending that throws, as when the store is away, has failed, and the other goes on', async () => {
  answer = () => 204;
  const away = async (): Promise<never> => {
    throw new Error('the store is away');
  };
  start({ mail: away }).notify(event);
  await eventually(() => notifier.counts()).toMatchObject({ delivered: 1, retried: 0, failed: 1 });
  expect(deliveries.list({}).rows).toMatchObject([
    { channel: 'email', state: 'failed', attempts: 1, error: 'the store is away' },
    { channel: 'webhook', state: 'delivered', attempts: 1 },
  ]);
});

test('tries three times while the receiver is in trouble', async () => {
  const answers = [503, 429, 204];
  answer = () => answers.shift() ?? 500;
  start().notify(event);
  await eventually(() => notifier.counts()).toMatchObject({ delivered: 1, retried: 2, failed: 0 });
  expect(hook.received).toHaveLength(3);
  const sent = { 'content-type': 'application/json', 'user-agent': 'Sallyport-Webhook/1.0' };
  for (const { headers } of hook.received) expect(headers).toMatchObject(sent);
});

test('tries again without being told how long to wait', async () => {
  answer = () => 503;
  start({ isPatient: true }).notify(event);
  await eventually(() => deliveries.list({}).rows[0]).toMatchObject({ state: 'retrying', attempts: 1 });
  expect(notifier.counts()).toMatchObject({ retried: 1, failed: 0 });
});

test('gives up after the third', async () => {
  answer = () => 500;
  start().notify(event);
  await eventually(() => notifier.counts()).toMatchObject({ delivered: 0, retried: 2, failed: 1 });
  expect(hook.received).toHaveLength(3);
});

test('what was sent is taken down, the newest fifty of it, with what became of it', async () => {
  const answers = [500, 204];
  const secondMayGoOn = Promise.withResolvers<number>();
  answer = () => answers.shift() ?? secondMayGoOn.promise;
  const reference = '0f9c2f7e-0000-4000-8000-000000000001';
  start().notify({ ...event, message: 'x'.repeat(1_000), details: { reference, request_uri: '/?q=1' } });
  await eventually(() => deliveries.list({}).rows).toEqual([
    {
      ...{ id: 1, at: '2026-11-20T12:00:01.000Z', channel: 'webhook', event_type: 'waf_block', severity: 'warn' },
      ...{ message: 'x'.repeat(500), reference, state: 'delivered', attempts: 2, error: '' },
    },
  ]);
  answers.push(503);
  notifier.notify(event);
  const error = 'the webhook answered with status 503';
  await eventually(() => deliveries.list({}).rows[0]).toMatchObject({ id: 2, state: 'retrying', attempts: 1, error });
  secondMayGoOn.resolve(404);
  await eventually(() => deliveries.list({}).rows[0]).toMatchObject({
    state: 'failed',
    attempts: 2,
    error: expect.stringMatching(/404/),
  });
  const ids = (query: Parameters<Deliveries['list']>[0]) => deliveries.list(query).rows.map(({ id }) => id);
  expect([ids({ search: '404' }), ids({ search: reference })]).toEqual([[2], [1]]);
  expect([ids({ sort: 'state', order: 'asc' }), ids({ sort: 'channel', order: 'asc' })]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  for (let count = 0; count < 60; count += 1) notifier.notify(event);
  await eventually(() => notifier.counts().failed).toBe(61);
  expect(deliveries.list({}).rows.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, index) => 62 - index));
  // No address: that of a chat lets whoever has it write there.
  expect(JSON.stringify(deliveries.list({}).rows)).not.toContain('/hook');
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
