import { isOnEveryAddress, type Listen, localAddress } from '@sallyport/deployment/listen';
import type { LogFormat } from '@sallyport/deployment/log';
import type { Logger } from 'pino';
import type { ProxyAddresses } from './proxy-listeners.ts';

/** What there is to reach once everything serves. */
export interface Served {
  /** The management server. */
  api: Listen;
  hasUi: boolean;
  proxy: ProxyAddresses;
  /** Milliseconds since the supervisor started. */
  afterMs: number;
}

/** What the person who started Sallyport is told, apart from the log. */
export interface Screen {
  starting(dataDir: string): void;
  notice(line: string): void;
  ready(served: Served): void;
  stopping(): void;
  stopped(): void;
}

const textScreen = (): Screen => {
  const print = (...lines: string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);
  return {
    starting: (dataDir) => print(`Sallyport starts, with its data in ${dataDir}`),
    notice: (line) => print(line),
    ready({ api, hasUi, proxy, afterMs }) {
      const url = `http://${localAddress(api)}`;
      print(
        '',
        ...(hasUi ? [`  UI     ${url}/`] : []),
        `  API    ${url}/api/v1, described on ${url}/api/docs`,
        ...(isOnEveryAddress(api) ? ['         and on every other address of this machine'] : []),
        `  Proxy  HTTP on ${proxy.http}, HTTPS on ${proxy.https}`,
        '',
        `Ready after ${(afterMs / 1000).toFixed(1)} s. Ctrl-C stops it.`,
      );
    },
    stopping: () => print('Stopping …'),
    stopped: () => print('Stopped.'),
  };
};

const loggedScreen = (log: Logger): Screen => ({
  starting: (dataDir) => log.info({ dataDir }, 'starting'),
  notice: (line) => log.warn(line),
  ready: ({ api, hasUi, proxy, afterMs }) =>
    log.info({ url: `http://${localAddress(api)}/`, hasUi, proxy, afterMs }, 'ready'),
  stopping: () => log.info('stopping'),
  stopped: () => log.info('stopped'),
});

/** The screen that goes with a log in `format`: sentences, or objects among the log's. */
export const createScreen = (format: LogFormat, log: Logger): Screen =>
  format === 'text' ? textScreen() : loggedScreen(log);
