import { existsSync } from 'node:fs';
import { collectAll } from '@sallyport/deployment/collect-all';
import { ConfigError, parseConfig } from '@sallyport/deployment/config';
import { readEnvironment } from '@sallyport/deployment/config-sources';
import { formatAddress } from '@sallyport/deployment/listen';
import { createLog, logOutput } from '@sallyport/deployment/log';
import { readBootId } from '@sallyport/deployment/processes';
import { prepareRunDirectory } from '@sallyport/deployment/proxy-account';
import { readState, writeState } from '@sallyport/deployment/supervisor-state';
import { endStrays } from './adoption.ts';
import { layoutOf } from './children/layout.ts';
import { programPath } from './children/program-path.ts';
import { openDataDir } from './data-dir.ts';
import { takeInstanceLock } from './instance-lock.ts';
import { explainBindError, whyNotBindable } from './listeners.ts';
import { processTable } from './process-table.ts';
import { chooseAddresses, configuredAddresses, type ProxyAddresses } from './proxy-listeners.ts';
import { createScreen } from './screen.ts';
import { findInherited, superviseAll } from './supervisor.ts';

const run = async (): Promise<void> => {
  // Everything below and all children: files and sockets for our user only.
  process.umask(0o077);
  const merged = readEnvironment(process.argv.slice(2), process.env, process.cwd());
  const environment = Object.fromEntries(
    Object.entries(merged).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  const config = parseConfig(environment, process.cwd());
  const layout = layoutOf(openDataDir(config.dataDir));
  const lock = takeInstanceLock(layout.lockFile);
  if (lock.state === 'taken') {
    throw new Error(`process ${lock.pid} already runs Sallyport on ${layout.dataDir}; stop it first`);
  }
  // Whoever reads what we write may go away (a closed terminal, the end of a pipe): no reason to stop a proxy.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const log = createLog('supervisor', config.logLevel, logOutput(config.logFormat));
  const screen = createScreen(config.logFormat, log);
  screen.starting(layout.dataDir);
  const unconfined = prepareRunDirectory(layout.dataDir);
  if (unconfined !== undefined) log.warn({ reason: unconfined }, 'HAProxy is started by root and stays root');

  const bootId = readBootId();
  const saved = readState(layout.stateFile);
  const inherited = saved?.boot_id === bootId ? saved : undefined;
  const tableWith = (addresses: ProxyAddresses) => processTable({ config, layout, addresses, environment, log });

  // A HAProxy that an earlier supervisor left serving stays where it is. Otherwise what is left of it must go before the
  // ports are tried, or it would be taken for another program.
  const former = {
    http: inherited?.proxy_http ?? '',
    https: inherited?.proxy_https ?? '',
    ...configuredAddresses(config),
  };
  let addresses: ProxyAddresses = former;
  const isServing = former.http !== '' && former.https !== '' && findInherited(tableWith(former).haproxy, inherited);
  if (!isServing) {
    await endStrays(tableWith({ http: ':80', https: ':443' }).haproxy, undefined);
    const choice = await chooseAddresses(config);
    addresses = choice.addresses;
    choice.notices.forEach(screen.notice);
  }

  const table = tableWith(addresses);
  if (!findInherited(table.server, inherited)) {
    await endStrays(table.server, undefined);
    const problem = await whyNotBindable(config.httpBind);
    const address = formatAddress(config.httpBind.host, config.httpBind.port);
    if (problem) throw new Error(`SALLYPORT_HTTP_BIND: ${address} can't be bound (${explainBindError(problem)})`);
  }

  for (const { name } of table.emergency) {
    const bind = config.emergencyBind;
    if (!bind || inherited?.children.some((child) => child.name === name)) continue;
    const problem = await whyNotBindable(bind);
    const address = formatAddress(bind.host, bind.port);
    if (problem) throw new Error(`SALLYPORT_EMERGENCY_BIND: ${address} can't be bound (${explainBindError(problem)})`);
  }

  const supervisor = superviseAll({
    children: [...table.guards, table.haproxy, table.server, ...table.emergency],
    inherited,
    record: (state) =>
      writeState(layout.stateFile, {
        boot_id: bootId,
        proxy_http: addresses.http,
        proxy_https: addresses.https,
        ...state,
      }),
    log,
    random: Math.random,
  });

  const hurry = new AbortController();
  let isStopping = false;
  const stop = async () => {
    if (isStopping) return hurry.abort();
    isStopping = true;
    screen.stopping();
    await supervisor.stop(hurry.signal);
    lock.release();
    screen.stopped();
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());

  await supervisor.ready;
  if (isStopping) return;
  screen.ready({
    api: config.httpBind,
    hasUi: existsSync(programPath('web/dist/index.html')),
    proxy: addresses,
    afterMs: Math.round(process.uptime() * 1000),
  });
  // From now on it needs next to nothing: what the start left behind would stay.
  collectAll();
};

try {
  await run();
} catch (error) {
  const lines =
    error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) process.stderr.write(`sallyport: ${line}\n`);
  process.exit(1);
}
