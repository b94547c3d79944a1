import { connect } from 'node:net';
import type { GuardBlock, GuardMessage } from '@sallyport/contract';
import { readRequest } from '../../support/ftw/front-end.ts';

/** What became of one request: the status that came back, and what the guard told of it if it was asked. */
export type Outcome = { status: number; block: GuardBlock | undefined };

const isWhole = (bytes: Buffer): boolean =>
  bytes.includes('\r\n\r\n') && !readRequest(Buffer.from(bytes), 0).isIncomplete;

/** Sends raw requests one after the other from an address of its own, by which the guard's records are found. */
export const createLane = (address: string, port: number) => {
  /** What the guard tells of a request that was broken off may come at any time: it must not be taken for the next one's. */
  const elsewhere = address.replace('127.0.0.', '127.0.1.');
  const waiting: ((block: GuardBlock) => void)[] = [];
  const arrived: GuardBlock[] = [];

  const nextBlock = (): Promise<GuardBlock> => {
    const ready = arrived.shift();
    if (ready) return Promise.resolve(ready);
    return new Promise((resolve) => waiting.push(resolve));
  };

  /** The status line's number; 0 when the connection ended without one. */
  const statusOf = (bytes: Buffer): Promise<number> =>
    new Promise((resolve) => {
      const socket = connect({
        port,
        host: '127.0.0.1',
        localAddress: isWhole(bytes) ? address : elsewhere,
        allowHalfOpen: true,
      });
      let text = '';
      const done = (): void => {
        resolve(Number(/^HTTP\/\d\.\d (\d{3})/.exec(text)?.[1] ?? 0));
        socket.destroy();
      };
      socket.setEncoding('latin1').on('data', (chunk) => {
        text += chunk;
        if (/^HTTP\/\d\.\d [2-9]\d\d/.test(text) && text.includes('\r\n\r\n')) done();
      });
      socket.on('error', done).on('end', done).on('close', done);
      // An incomplete request ends here, instead of being waited for; after any other an end would be taken for a hang-up.
      if (isWhole(bytes)) socket.write(bytes);
      else socket.end(bytes);
    });

  return {
    address,
    take(message: GuardMessage): void {
      if (message.type !== 'block' || message.ip !== address) return;
      const resolve = waiting.shift();
      if (resolve) resolve(message);
      else arrived.push(message);
    },

    async send(bytes: Buffer): Promise<Outcome> {
      const status = await statusOf(bytes);
      // Only what the guard has passed gets an origin's answer, and it tells of each request.
      return { status, block: status === 200 ? await nextBlock() : arrived.shift() };
    },
  };
};
export type Lane = ReturnType<typeof createLane>;
