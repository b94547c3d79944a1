import '@mantine/notifications/styles.css';
import { Notifications } from '@mantine/notifications';

/** Where what was done, and what was not, is said in passing. */
export const Notices = () => <Notifications position="bottom-center" />;
