import type { NotificationEvent } from '@sallyport/contract';
import { titleOf } from './template.ts';

/** One line, whatever a client sent: in a mail a line could pass for another field. */
const oneLine = (value: unknown): string =>
  String(value)
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .slice(0, 1_000);

/** Subject and text of the mail about an event. */
export const mailFor = (event: NotificationEvent): { subject: string; text: string } => ({
  subject: `[Sallyport] ${titleOf(event)}`,
  text: [
    oneLine(event.message),
    '',
    `Event: ${event.event_type}`,
    `Severity: ${event.severity}`,
    `Time: ${event.timestamp}`,
    ...Object.entries(event.details)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => `${name}: ${oneLine(value)}`),
    '',
  ].join('\n'),
});
