import { connect } from 'node:net';
import { watchSilence } from '@sallyport/deployment/patience';

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'the host name does not resolve',
  EAI_AGAIN: 'the host name could not be resolved (name server did not answer)',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ECONNRESET: 'connection reset',
  ETIMEDOUT: 'no answer',
};

/**
 * Opens and closes a TCP connection.
 * Resolves to undefined when it stood within `timeoutMs`, else to the reason in words; never rejects.
 */
export const probeTcp = (host: string, port: number, timeoutMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const settle = (reason: string | undefined) => {
      watch.stop();
      socket.destroy();
      resolve(reason);
    };
    // The socket's own timeout only counts idle time after look-up and connect.
    const watch = watchSilence(timeoutMs, () => settle(`no answer within ${timeoutMs / 1000} seconds`));
    socket.once('connect', () => settle(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code ?? (error as AggregateError).errors?.[0]?.code;
      settle(REASONS[String(code)] ?? String(code ?? error.message));
    });
  });
