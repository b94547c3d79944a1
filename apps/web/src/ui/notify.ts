import type { NotificationData } from '@mantine/notifications';
import i18next from 'i18next';
import { wordsOf } from './words-of.ts';

// Not needed for the first look: what is said before it is there is said when it comes.
const said = (notice: NotificationData): void => {
  const closeButtonProps = { 'aria-label': i18next.t('close') };
  void import('@mantine/notifications').then(({ notifications }) =>
    notifications.show({ closeButtonProps, ...notice }),
  );
};

/** Says in passing that something was done. */
export const notifyDone = (message: string): void => said({ message, color: 'verdigris', autoClose: 4_000 });

/** Says that something was not done, and why; it stays until it is read. */
export const notifyFailed = (problem: Error | string): void =>
  said({ message: typeof problem === 'string' ? problem : wordsOf(problem), color: 'red', autoClose: false });

/** Says that something was done and is not all well yet; the place it is about goes on saying so. */
export const notifyAttention = (message: string): void => said({ message, color: 'yellow', autoClose: 8_000 });
