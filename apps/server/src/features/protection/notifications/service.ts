import {
  NOTIFICATION_DEFAULTS,
  type NotificationEvent,
  type NotificationSettings,
  type NotificationSettingsPatch,
  type NotificationTest,
} from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { Refusal, refuse } from '@sallyport/store/errors';
import { parseEmail } from '@sallyport/store/names/email-address';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { SafeFetch } from '../../../net/safe-fetch.ts';
import type { Channel, Deliveries } from './deliveries.ts';
import { type DeliveryFailure, outcomeOf, postWebhook } from './delivery.ts';
import { mailFor } from './mail-text.ts';
import type { DeliveryTargets } from './notifier.ts';
import type { NotificationStore, StoredNotificationSettings } from './store.ts';
import { checkTemplate } from './template.ts';

/** Mail to one recipient. Resolves to false when no mail server is configured or it did not take the mail. */
export type SendMail = (mail: { to: string; subject: string; text: string }) => Promise<boolean>;

export interface NotificationDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => NotificationStore;
  vault: Vault;
  /** Resolves when `url` may be called from here, else throws a `Refusal` that says why not. */
  checkWebhookUrl: (url: string) => Promise<void>;
  /** `webhook_url` of the security configuration, for when the notification settings name none. */
  otherWebhookUrl: () => Promise<string>;
  fetch: SafeFetch;
  sendMail: SendMail;
  deliveries: Pick<Deliveries, 'begin'>;
  record: RecordChange;
  clock: () => Date;
}

const SECRET_CONTEXT = 'notifications:webhook_secret';
const MAX_RECIPIENTS = 50;

const parseRecipients = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

const normaliseRecipients = (text: string): string => {
  const recipients = parseRecipients(text);
  if (recipients.length > MAX_RECIPIENTS) {
    throw refuse.invalid(`email_recipients must have at most ${MAX_RECIPIENTS} addresses`);
  }
  const addresses = recipients.map((entry) => {
    try {
      return parseEmail(entry);
    } catch (error) {
      throw refuse.invalid(`email_recipients ${JSON.stringify(entry.slice(0, 80))} ${(error as Error).message}`);
    }
  });
  return [...new Set(addresses)].join(',');
};

const normalise = (input: NotificationSettingsPatch): NotificationSettingsPatch => {
  const patch = { ...input };
  if (input.webhook_url !== undefined) patch.webhook_url = input.webhook_url.trim();
  if (input.email_recipients !== undefined) patch.email_recipients = normaliseRecipients(input.email_recipients);
  if (input.webhook_template) checkTemplate(input.webhook_template);
  return patch;
};

const checkWhole = ({ webhook_format, webhook_template }: NotificationSettings): void => {
  if (webhook_format === 'template' && webhook_template === '') {
    throw refuse.invalid('webhook_template is required when webhook_format is template');
  }
};

/** Throws a 400 for settings that could not have been saved; `webhook_url` is looked at elsewhere. */
export const checkNotifications = (settings: NotificationSettings): void => {
  const { email_recipients } = normalise(settings);
  if (email_recipients !== settings.email_recipients) throw refuse.invalid('email_recipients is not as it is stored');
  checkWhole(settings);
};

const toWire = ({ webhook_secret_sealed, ...settings }: StoredNotificationSettings): NotificationSettings => ({
  ...settings,
  webhook_secret_set: webhook_secret_sealed !== null,
});

/** What is in force before anything was saved. */
const UNSAVED: StoredNotificationSettings = { ...NOTIFICATION_DEFAULTS, webhook_secret_sealed: null };

const notAttempted = { attempted: false, delivered: false, error: '' };
const outcome = (failure: DeliveryFailure) => ({
  attempted: true,
  delivered: failure === undefined,
  error: failure?.error ?? '',
});

export const createNotifications = (deps: NotificationDeps) => {
  const { db, transact, store, vault, checkWebhookUrl, otherWebhookUrl, fetch, sendMail, deliveries, record, clock } =
    deps;

  const mailAll = async (recipients: readonly string[], event: NotificationEvent): Promise<DeliveryFailure> => {
    const mail = mailFor(event);
    const sent = await Promise.all(recipients.map((to) => sendMail({ ...mail, to })));
    const failed = recipients.filter((_, index) => !sent[index]);
    if (failed.length === 0) return undefined;
    // Trying again would send it twice to those who got it.
    return { error: `mail was not sent to ${failed.length} of ${recipients.length} recipients`, isFinal: true };
  };

  const targets = async (): Promise<DeliveryTargets | undefined> => {
    const stored = await store(db).find();
    if (!stored) return undefined;
    const webhook_url = stored.webhook_url || (await otherWebhookUrl());
    const settings = { ...toWire(stored), webhook_url };
    const sealed = stored.webhook_secret_sealed;
    const secret = sealed === null ? undefined : vault.open(sealed, SECRET_CONTEXT);
    const recipients = parseRecipients(stored.email_recipients);
    return {
      settings,
      ...(webhook_url === '' ? {} : { post: (event, signal) => postWebhook(fetch, settings, secret, event, signal) }),
      ...(recipients.length === 0 ? {} : { mail: (event) => mailAll(recipients, event) }),
    };
  };

  const seal = (secret: string | undefined, before: string | null): string | null => {
    if (secret === undefined) return before;
    return secret === '' ? null : vault.seal(secret, SECRET_CONTEXT);
  };

  const saveIn = async (
    tx: Executor,
    patch: NotificationSettingsPatch,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<NotificationSettings> => {
    const before = await store(tx).find();
    checkVersion(toWire(before ?? UNSAVED));
    const { webhook_secret, ...fields } = patch;
    const after: StoredNotificationSettings = {
      ...NOTIFICATION_DEFAULTS,
      ...before,
      ...fields,
      webhook_secret_sealed: seal(webhook_secret, before?.webhook_secret_sealed ?? null),
    };
    checkWhole(toWire(after));
    await store(tx).set(after);
    await record(tx, {
      action: 'notifications.configure',
      actor,
      resource: 'security/notifications/settings',
      before: before && toWire(before),
      after: toWire(after),
    });
    return toWire(after);
  };

  return {
    /** The same change in a transaction of the caller, of fields among which is no `webhook_url`. */
    within: {
      current: async (tx: Executor): Promise<NotificationSettings> => toWire((await store(tx).find()) ?? UNSAVED),
      update: (tx: Executor, fields: Omit<NotificationSettingsPatch, 'webhook_url'>, actor: Actor) =>
        saveIn(tx, normalise(fields), actor, anyVersion),
    },

    /** What deliveries are made by; undefined before anything was configured. */
    targets,

    /** Throws a 404 before the first save, as the spec has it, unless `orDefaults` asks for what that would start from. */
    async settings(orDefaults = false): Promise<NotificationSettings> {
      const stored = (await store(db).find()) ?? (orDefaults ? UNSAVED : undefined);
      if (!stored) throw refuse.notFound('Notification settings not configured');
      return toWire(stored);
    },

    /** Changes the fields that are given; the first time the others get their defaults. */
    async configure(
      input: NotificationSettingsPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<NotificationSettings> {
      const patch = normalise(input);
      if (patch.webhook_url) await checkWebhookUrl(patch.webhook_url);
      try {
        return await transact((tx) => saveIn(tx, patch, actor, checkVersion));
      } catch (cause) {
        throw cause instanceof Refusal ? cause : refuse.failed('Failed to update settings', { cause });
      }
    },

    /** Sends a test event now, once, whatever the switches and filters say; tells what came of it. */
    async test(): Promise<NotificationTest> {
      const current = await targets();
      if (!current) throw refuse.notFound('Notification settings not configured');
      const event: NotificationEvent = {
        event_type: 'test',
        severity: 'info',
        timestamp: clock().toISOString(),
        message: 'This is a test notification. Security events will arrive like this one.',
        details: {},
      };
      const once = async (channel: Channel, deliver: () => Promise<DeliveryFailure>) => {
        const takeDown = deliveries.begin(channel, event);
        const failure = await outcomeOf(deliver);
        takeDown(failure, false);
        return outcome(failure);
      };
      const { post, mail } = current;
      const [webhook, email] = await Promise.all([
        post && once('webhook', () => post(event, new AbortController().signal)),
        mail && once('email', () => mail(event)),
      ]);
      return { webhook: webhook ?? notAttempted, email: email ?? notAttempted };
    },
  };
};
export type Notifications = ReturnType<typeof createNotifications>;
