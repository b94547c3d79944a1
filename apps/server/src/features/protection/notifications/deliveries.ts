import type { ListQuery, NotificationDelivery, NotificationEvent } from '@sallyport/contract';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { DeliveryFailure } from './delivery.ts';

/** As many are kept, in memory: what was refused, failed or expired is kept where it belongs, this is about the way to its readers. */
const KEPT = 50;
const MESSAGE_CHARACTERS = 500;

export type Channel = NotificationDelivery['channel'];

/** Takes down what was sent, and what became of it. */
export const createDeliveries = (clock: () => Date) => {
  const since = clock().toISOString();
  const kept: NotificationDelivery[] = [];
  let count = 0;
  return {
    since,

    /** Newest first unless it is sorted. */
    list: (query: ListQuery): Page<NotificationDelivery> =>
      pageOfRows(
        kept.map((one) => ({ ...one })),
        query,
        {
          sortable: ['id', 'at', 'channel', 'event_type', 'severity', 'state', 'attempts'],
          searchable: ['event_type', 'message', 'reference', 'error'],
        },
        { order: 'desc' },
      ),

    /** Takes down that `event` is about to be sent; what is given back is to be told of each attempt. */
    begin(channel: Channel, event: NotificationEvent): (failure: DeliveryFailure, isTriedAgain: boolean) => void {
      count += 1;
      const { reference = '' } = event.details;
      const delivery: NotificationDelivery = {
        id: count,
        at: clock().toISOString(),
        channel,
        event_type: event.event_type,
        severity: event.severity,
        message: event.message.slice(0, MESSAGE_CHARACTERS),
        reference: String(reference),
        state: 'retrying',
        attempts: 0,
        error: '',
      };
      kept.push(delivery);
      if (kept.length > KEPT) kept.shift();
      return (failure, isTriedAgain) => {
        delivery.attempts += 1;
        delivery.error = failure?.error ?? '';
        if (!failure) delivery.state = 'delivered';
        else if (!isTriedAgain) delivery.state = 'failed';
      };
    },
  };
};
export type Deliveries = ReturnType<typeof createDeliveries>;
