import { isIP } from 'node:net';
import { resolve } from 'node:path';
import { Cidr } from './cidr.ts';
import { flawOfDataDir } from './flaw-of-data-dir.ts';
import { type Listen, parseListen } from './listen.ts';
import type { LogFormat } from './log.ts';
import { defaultGuards } from './places.ts';

/** Everything the deployment decides, parsed once. Secrets are kept here and nowhere else. */
export interface Config {
  /** Absolute path of the directory that holds the database, certificates, backups, map files and secrets. */
  dataDir: string;
  /** Where the management API and the UI listen. */
  httpBind: Listen;
  /** Where the data plane listens; undefined = the default ports, with a fall-back when they can't be bound. */
  proxyHttp: Listen | undefined;
  proxyHttps: Listen | undefined;
  /** `postgres://…`, or undefined for SQLite in the data directory. */
  databaseUrl: string | undefined;
  apiAuth: 'local' | 'required' | 'open';
  /** Signs sessions; undefined = random at each start (spec, Authentication 4). */
  sessionSecret: string | undefined;
  /** Passphrase or key for stored credentials; undefined = generated once into the data directory. */
  encryptionKey: string | undefined;
  emergencyToken: string | undefined;
  managementCidrs: readonly Cidr[];
  emergencyBind: Listen | undefined;
  emergencyBasicAuth: { user: string; password: string } | undefined;
  /** Peers whose X-Forwarded-For is believed by the data plane. */
  trustedProxies: readonly Cidr[];
  /** Whether the data plane's listeners expect the PROXY protocol from trusted proxies. */
  proxyProtocol: boolean;
  /** Time for a guard's verdict, milliseconds; then the request counts as not judged. */
  guardTimeoutMs: number;
  /** How many guards there are. */
  guards: number;
  /** Where CrowdSec's local API listens, on 127.0.0.1. */
  crowdsecPort: number;
  /** Base URL of the central API that CrowdSec is enrolled at; undefined: that of its makers. */
  crowdsecConsole: string | undefined;
  /** Deprecated (spec, Versioning 3): counts until `crowdsec_mode` was set by a security configuration. */
  crowdsecMode: 'local' | 'disabled' | undefined;
  /** Where Docker or Podman is asked which containers run, an absolute path; undefined: nobody is. */
  dockerSocket: string | undefined;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** How all processes write their log: lines for people, or one JSON object a line. */
  logFormat: LogFormat;
}

/** Names every variable that is wrong and why; never a value, which may be a secret. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

const MANAGEMENT_DEFAULT = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,127.0.0.0/8';

const cidrList = (text: string): Cidr[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map(Cidr.parse);

const oneOf =
  <T extends string>(...allowed: T[]) =>
  (text: string): T => {
    const found = allowed.find((value) => value === text);
    if (!found) throw new Error(`must be one of ${allowed.join(', ')}`);
    return found;
  };

const secret = (least: number) => (text: string) => {
  if (text.length < least) throw new Error(`must be at least ${least} characters`);
  return text;
};

const basicAuth = (text: string) => {
  const colon = text.indexOf(':');
  if (colon < 1 || colon === text.length - 1) throw new Error('must be user:password');
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
};

const databaseUrl = (text: string) => {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) throw new Error('must be a postgres:// URL');
  return text;
};

const LONGEST_GUARD_TIMEOUT_MS = 60_000;

/** A time with its unit, as HAProxy writes them; without one it would be milliseconds there, and seconds elsewhere. */
const guardTimeout = (text: string): number => {
  const [, number, unit] = /^(\d{1,5})(ms|s)$/.exec(text) ?? [];
  const timeoutMs = Number(number) * (unit === 's' ? 1_000 : 1);
  if (!(timeoutMs >= 1 && timeoutMs <= LONGEST_GUARD_TIMEOUT_MS)) {
    throw new Error('must be a time from 1ms to 60s, such as 500ms or 2s');
  }
  return timeoutMs;
};

const MOST_GUARDS = 64;

const guards = (text: string): number => {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 2 || count > MOST_GUARDS) throw new Error(`must be a number from 2 to ${MOST_GUARDS}`);
  return count;
};

/** Spec: the local API of the intrusion-decision module listens there. */
const CROWDSEC_PORT = 8_085;

const port = (text: string): number => {
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > 65_535) throw new Error('must be a port from 1 to 65535');
  return number;
};

const DOCKER_SOCKET = '/var/run/docker.sock';

/** Longest path of a Unix socket on Linux, bytes (unix(7)). */
const LONGEST_SOCKET_PATH = 107;

const dockerSocket = (text: string): string | undefined => {
  if (text === 'off') return undefined;
  if (!text.startsWith('/') || text.includes('\0') || Buffer.byteLength(text) > LONGEST_SOCKET_PATH) {
    throw new Error(`must be the absolute path of a socket, at most ${LONGEST_SOCKET_PATH} bytes, or off`);
  }
  return text;
};

/** Credentials go there: in the clear within this machine only. */
const consoleUrl = (text: string): string => {
  const { protocol, hostname, origin, href } = URL.canParse(text) ? new URL(text) : new URL('invalid:');
  const isLocal = protocol === 'http:' && ['127.0.0.1', '[::1]'].includes(hostname);
  if ((protocol !== 'https:' && !isLocal) || href !== `${origin}/`) {
    throw new Error('must be https://host[:port], or http:// to 127.0.0.1 or [::1]');
  }
  return origin;
};

/** Local listeners only accept an address, not a name that may come to mean another one. */
const addressListen = (text: string) => {
  const listen = parseListen(text);
  if (listen.host !== '' && isIP(listen.host) === 0) throw new Error('the host must be an IP address');
  return listen;
};

/**
 * Parses the environment into a `Config`.
 * Throws `ConfigError` that lists every bad value and every unknown `SALLYPORT_*` variable at once. `isRunning`: a process was started with
 * it, of another version perhaps, to which an empty value counted as not set, and which had settings that are none here.
 */
export const parseConfig = (env: Environment, cwd: string, { isRunning = false } = {}): Config => {
  const problems: string[] = [];
  const known = new Set<string>();
  const read = <T, D>(name: string, parse: (text: string) => T, absent: D): T | D => {
    known.add(name);
    const text = env[name];
    if (text === undefined || text === '') return absent;
    try {
      return parse(text);
    } catch (error) {
      problems.push(`${name} ${error instanceof Error ? error.message : 'is not valid'}`);
      return absent;
    }
  };
  /** What would protect less unset than set: an empty value, as of a variable that a script did not find, is refused. */
  const readProtecting: typeof read = (name, parse, absent) => {
    if (env[name] === '' && !isRunning) problems.push(`${name} must not be empty: give it a value, or remove it`);
    return read(name, parse, absent);
  };
  const config: Config = {
    dataDir: read('SALLYPORT_DATA_DIR', (text) => resolve(cwd, text), resolve(cwd, 'data')),
    httpBind: read('SALLYPORT_HTTP_BIND', addressListen, { host: '127.0.0.1', port: 8080 }),
    proxyHttp: read('SALLYPORT_PROXY_HTTP', addressListen, undefined),
    proxyHttps: read('SALLYPORT_PROXY_HTTPS', addressListen, undefined),
    databaseUrl: read('DATABASE_URL', databaseUrl, undefined),
    apiAuth: readProtecting('SALLYPORT_API_AUTH', oneOf('local', 'required', 'open'), 'local'),
    sessionSecret: read('SALLYPORT_SESSION_SECRET', secret(32), undefined),
    encryptionKey: readProtecting('SALLYPORT_ENCRYPTION_KEY', secret(32), undefined),
    emergencyToken: read('SALLYPORT_EMERGENCY_TOKEN', secret(32), undefined),
    managementCidrs: readProtecting('SALLYPORT_MANAGEMENT_CIDRS', cidrList, cidrList(MANAGEMENT_DEFAULT)),
    emergencyBind: read('SALLYPORT_EMERGENCY_BIND', addressListen, undefined),
    emergencyBasicAuth: readProtecting('SALLYPORT_EMERGENCY_BASIC_AUTH', basicAuth, undefined),
    trustedProxies: read('SALLYPORT_TRUSTED_PROXIES', cidrList, []),
    guards: read('SALLYPORT_GUARDS', guards, defaultGuards()),
    crowdsecPort: read('SALLYPORT_CROWDSEC_PORT', port, CROWDSEC_PORT),
    crowdsecConsole: read('SALLYPORT_CROWDSEC_CONSOLE', consoleUrl, undefined),
    crowdsecMode: read('SALLYPORT_CROWDSEC_MODE', oneOf('local', 'disabled'), undefined),
    dockerSocket: readProtecting('SALLYPORT_DOCKER_SOCKET', dockerSocket, DOCKER_SOCKET),
    guardTimeoutMs: read('SALLYPORT_GUARD_TIMEOUT', guardTimeout, 1_000),
    proxyProtocol: read('SALLYPORT_PROXY_PROTOCOL', oneOf('true', 'false'), 'false') === 'true',
    logLevel: read('SALLYPORT_LOG_LEVEL', oneOf('debug', 'info', 'warn', 'error'), 'info'),
    logFormat: read('SALLYPORT_LOG_FORMAT', oneOf('text', 'json'), 'text'),
  };
  const flaw = isRunning ? undefined : flawOfDataDir(config.dataDir);
  if (flaw !== undefined) problems.push(`SALLYPORT_DATA_DIR ${flaw}: ${JSON.stringify(config.dataDir)}`);
  for (const name of Object.keys(env)) {
    const isUnknown = name.startsWith('SALLYPORT_') && !known.has(name);
    if (isUnknown && !isRunning) problems.push(`${name} is not a setting of this version`);
  }
  if (config.emergencyBind && !config.emergencyToken) {
    problems.push('SALLYPORT_EMERGENCY_BIND needs SALLYPORT_EMERGENCY_TOKEN');
  }
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
};
