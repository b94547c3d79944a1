import { NOTIFICATION_DEFAULTS, type NotificationSettings } from '@sallyport/contract';
import { refuse } from '@sallyport/store/errors';
import type { Declared } from '../../declared.ts';
import { fieldsOf } from '../../reverter.ts';
import type { Notifications } from './service.ts';

/** The URL of a chat's webhook is a credential, and looked up before it is taken. */
const FIELDS = Object.keys(NOTIFICATION_DEFAULTS).filter((name) => name !== 'webhook_url');
/** There is one of them, which has no number. */
const ONLY_ONE = 1;

/** The notification settings, as they are configured as code. Nothing has to follow: each event reads them. */
export const declareNotifications = ({ within }: Pick<Notifications, 'within'>): Declared<NotificationSettings> => ({
  policy: 'sensitive',
  all: async (tx) => [await within.current(tx)],
  async apply(tx, undoing, actor) {
    if (undoing.does !== 'update') throw refuse.conflict('The notification settings are always there');
    await within.update(tx, fieldsOf(undoing.fields, FIELDS), actor);
    return { key: undoing.key, id: ONLY_ONE };
  },
  async settle() {},
});
