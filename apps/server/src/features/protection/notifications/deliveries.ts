import type { NotificationDelivery, NotificationEvent } from '@sallyport/contract';
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

    /** Newest first. */
    list: (): NotificationDelivery[] => kept.map((one) => ({ ...one })),

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
      kept.unshift(delivery);
      kept.length = Math.min(kept.length, KEPT);
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
