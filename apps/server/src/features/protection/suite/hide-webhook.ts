import type { Actor } from '@sallyport/store/actor';

/** What stands for a webhook URL where it must not be read; it is refused when it is sent back. */
const HIDDEN = '***';

/**
 * The URL of a chat's webhook is a credential: whoever has it can post there. Standard users, who can't change it, only
 * see that there is one.
 */
export const hideWebhook = <T extends { webhook_url: string }>(settings: T, { identity }: Actor): T =>
  identity.kind === 'user' && identity.role !== 'admin' && settings.webhook_url !== ''
    ? { ...settings, webhook_url: HIDDEN }
    : settings;
