import type { Config } from '@sallyport/deployment/config';
import { parseListen } from '@sallyport/deployment/listen';
import type { Logger } from 'pino';
import type { ChildSpec } from './child-spec.ts';
import { emergencyChild } from './children/emergency.ts';
import { guardChild } from './children/guard.ts';
import { haproxyChild } from './children/haproxy.ts';
import type { Layout } from './children/layout.ts';
import { serverChild } from './children/server.ts';
import type { ProxyAddresses } from './proxy-listeners.ts';

export interface ProcessTableDeps {
  config: Config;
  layout: Layout;
  addresses: ProxyAddresses;
  /** Our own environment, with the settings of `.env` and the command line. */
  environment: Readonly<Record<string, string>>;
  log: Logger;
}

export interface ProcessTable {
  /** Before HAProxy, which refuses requests that they have to judge until they can. */
  guards: ChildSpec[];
  haproxy: ChildSpec;
  server: ChildSpec;
  /** The second way to the emergency reset, when there is to be one. */
  emergency: ChildSpec[];
}

/** The children, in the order of their start. A new kind of process is one more row here. */
export const processTable = ({ config, layout, addresses, environment, log }: ProcessTableDeps): ProcessTable => {
  const serverEnv = {
    ...environment,
    SALLYPORT_DATA_DIR: layout.dataDir,
    SALLYPORT_PROXY_HTTP: addresses.http,
    SALLYPORT_PROXY_HTTPS: addresses.https,
  };
  const listeners = [addresses.http, addresses.https].map(parseListen);
  return {
    guards: Array.from({ length: config.guards }, (_, index) =>
      guardChild(layout, index, environment.NODE_COMPILE_CACHE),
    ),
    haproxy: haproxyChild({ layout, listeners, serverEnv, log: log.child({ child: 'haproxy' }) }),
    server: serverChild(config.httpBind, serverEnv),
    emergency: config.emergencyBind ? [emergencyChild(config.emergencyBind, serverEnv)] : [],
  };
};
