import { ConfigError, parseConfig } from './config.ts';
import { readEnvironment } from './config-sources.ts';
import { createLog } from './log.ts';
import { startServer } from './server.ts';

const main = async () => {
  const env = readEnvironment(process.argv.slice(2), process.env, process.cwd());
  const config = parseConfig(env, process.cwd());
  // Whatever this process creates is nobody else's business.
  process.umask(0o077);
  const log = createLog('server', config.logLevel);
  const server = await startServer(config, log, {
    // Not through the log, which is kept: the token is for whoever starts the service.
    announceSetupToken: (token) =>
      process.stdout.write(`sallyport: to set up from another host, use setup token ${token}\n`),
  });
  log.info({ url: server.url }, 'listening');
  if (config.apiAuth === 'open') log.warn('API authentication is off: everybody who can connect may change everything');
  const stop = (signal: NodeJS.Signals) => {
    log.info({ signal }, 'stopping');
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
  const lines = error instanceof ConfigError ? error.problems : [error instanceof Error ? error.stack : String(error)];
  for (const line of lines) process.stderr.write(`sallyport: ${line}\n`);
  process.exit(1);
});
