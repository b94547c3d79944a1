import { collectAll } from '@sallyport/deployment/collect-all';
import { type Config, parseConfig } from '@sallyport/deployment/config';
import { readEnvironment } from '@sallyport/deployment/config-sources';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { localAddress } from '@sallyport/deployment/listen';
import { createLog, logOutput } from '@sallyport/deployment/log';
import { startServer } from './server.ts';

/** The password is too short on purpose: copied as it is, the command makes nothing. */
const showSetup = ({ httpBind, logFormat }: Config, token: string): void => {
  const body = `{"setup_token": "${token}", "email": "you@example.com", "password": "…"}`;
  const lines = [
    '',
    'There is no administrator yet. Make one, on this machine or on another that reaches the API:',
    '',
    `  curl http://${localAddress(httpBind)}/api/v1/setup -H 'Content-Type: application/json' \\`,
    `    -d '${body}'`,
  ];
  // Among JSON objects it would be a line that does not parse.
  const output = logFormat === 'text' ? process.stdout : process.stderr;
  output.write(`${lines.join('\n')}\n`);
};

/** By then HAProxy has been compared with the store, of a small deployment at least. */
const STARTED_MS = 5_000;

const main = async () => {
  const env = readEnvironment(process.argv.slice(2), process.env, process.cwd());
  const config = parseConfig(env, process.cwd());
  // Whatever this process creates is nobody else's business.
  process.umask(0o077);
  // Whoever reads what we write may go away: no reason to stop serving.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const log = createLog('server', config.logLevel, logOutput(config.logFormat));
  const server = await startServer(config, log, {
    // Not through the log, which is kept: the token is for whoever starts the service.
    announceSetupToken: (token) => showSetup(config, token),
  });
  log.debug({ url: server.url }, 'listening');
  // What the start leaves behind would stay for as long as little is asked of the API.
  setTimeout(collectAll, STARTED_MS).unref();
  if (config.apiAuth === 'open') log.warn('API authentication is off: everybody who can connect may change everything');
  const stop = (signal: NodeJS.Signals) => {
    log.debug({ signal }, 'stopping');
    server.stop().then(
      () => process.exit(0),
      (err) => {
        log.error({ err }, 'stop failed');
        process.exit(1);
      },
    );
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
};

main().catch((error) => {
  for (const line of failureLines(error)) process.stderr.write(`sallyport: ${line}\n`);
  process.exit(1);
});
