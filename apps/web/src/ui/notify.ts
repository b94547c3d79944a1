import { notifications } from '@mantine/notifications';

/** Says in passing that something was done. */
export const notifyDone = (message: string): void => {
  notifications.show({ message, color: 'verdigris', autoClose: 4_000 });
};

/** Says that something was not done, and why; it stays until it is read. */
export const notifyFailed = (message: string): void => {
  notifications.show({ message, color: 'red', autoClose: false });
};

/** Says that something was done and is not all well yet; the place it is about goes on saying so. */
export const notifyAttention = (message: string): void => {
  notifications.show({ message, color: 'yellow', autoClose: 8_000 });
};
