import { existsSync, readFileSync } from 'node:fs';
import type { Config } from '@sallyport/deployment/config';
import type { Listen } from '@sallyport/deployment/listen';
import {
  adminSocket,
  apiSocket,
  guardFiles,
  logSocket,
  returnSocket,
  spoeFile,
  trafficSocket,
} from '@sallyport/deployment/places';
import { proxyConfinement } from '@sallyport/deployment/proxy-account';
import { type ConfigSettings, defaultSettings } from '@sallyport/haproxy';
import { tellsTraffic } from './protection/traffic.ts';
import { readWindow } from './protection/window.ts';

/** HAProxy's program: Debian's place, which is not on every user's PATH, or wherever PATH says. */
export const haproxyProgram = (): string => (existsSync('/usr/sbin/haproxy') ? '/usr/sbin/haproxy' : 'haproxy');

const hasIpv6 = (): boolean => existsSync('/proc/net/if_inet6') && readFileSync('/proc/net/if_inet6', 'utf8') !== '';

const bindsOf = ({ host, port }: Listen) => {
  const addresses = host === '' ? ['0.0.0.0', ...(hasIpv6() ? ['::'] : [])] : [host];
  return addresses.map((address) => ({ address, port }));
};

export const STANDARD_HTTP: Listen = { host: '', port: 80 };
export const STANDARD_HTTPS: Listen = { host: '', port: 443 };

/** Where this deployment listens, the proxy included. */
export const ownListeners = (
  config: Pick<Config, 'httpBind' | 'proxyHttp' | 'proxyHttps' | 'emergencyBind'>,
): readonly Listen[] => [
  config.httpBind,
  config.proxyHttp ?? STANDARD_HTTP,
  config.proxyHttps ?? STANDARD_HTTPS,
  ...(config.emergencyBind ? [config.emergencyBind] : []),
];

type DeploymentConfig = Pick<
  Config,
  'dataDir' | 'proxyHttp' | 'proxyHttps' | 'trustedProxies' | 'proxyProtocol' | 'guardTimeoutMs' | 'guards'
>;

/** Translates the deployment's configuration into what the static haproxy.cfg depends on. */
export const toProxySettings = (config: DeploymentConfig): ConfigSettings => {
  const { dataDir } = config;
  const https = config.proxyHttps ?? STANDARD_HTTPS;
  const workers = Array.from({ length: config.guards }, (_, worker) => worker);
  return {
    ...defaultSettings,
    http: bindsOf(config.proxyHttp ?? STANDARD_HTTP),
    https: bindsOf(https),
    publicHttpsPort: https.port,
    adminSocket: adminSocket(dataDir),
    trustedProxies: config.trustedProxies.map(String),
    proxyProtocol: config.proxyProtocol,
    eventSocket: logSocket(dataDir),
    trafficSocket: tellsTraffic(dataDir) ? trafficSocket(dataDir) : null,
    apiSocket: apiSocket(dataDir),
    confinement: proxyConfinement(dataDir),
    rateLimit: { windowSec: readWindow(dataDir) },
    guard: {
      agents: workers.map((worker) => guardFiles(dataDir, worker).agent),
      relays: workers.map((worker) => guardFiles(dataDir, worker).relay),
      spoeFile: spoeFile(dataDir),
      returnSocket: returnSocket(dataDir),
      timeoutMs: config.guardTimeoutMs,
    },
  };
};
