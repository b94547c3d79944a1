import { isIP, isIPv4 } from 'node:net';
import { isAbsolute } from 'node:path';

/** One listening address; IPv6 literals without brackets. */
export type BindAddress = { address: string; port: number };

export type LogTarget = { to: 'stdout' } | { to: 'socket'; path: string };

/** Rate limiting by client prefix; the thresholds are map entries, only the window needs a reload. */
export type RateLimitSettings = { windowSec: number };

/** The guard's workers, all paths absolute unix sockets. */
export type GuardSettings = {
  /** SPOP agents. */
  agents: readonly string[];
  /** HTTP doors for requests with long bodies. */
  relays: readonly string[];
  /** Absolute path that the question to the agents is written to: HAProxy takes no relative one for it. */
  spoeFile: string;
  /** Where the relays hand judged requests back to HAProxy. */
  returnSocket: string;
  /** Time for a verdict, milliseconds; then the request counts as not judged. */
  timeoutMs: number;
};

/** What is left to a HAProxy that root starts. */
export type ConfinementSettings = {
  user: string;
  group: string;
  /**
   * Absolute path of the directory it is started in and confined to, with the sockets that it connects to, open to `group`.
   * What lies elsewhere is out of its reach.
   */
  directory: string;
};

/** What the static haproxy.cfg depends on; changing any of these needs a (hitless) reload. */
export type ConfigSettings = {
  /** Plain HTTP listeners. */
  http: readonly BindAddress[];
  /** TLS listeners. */
  https: readonly BindAddress[];
  /** Port that clients reach the TLS listener on, for redirects; null when there is none. */
  publicHttpsPort: number | null;
  /** Absolute path of the runtime API's unix socket (mode 0600, level admin). */
  adminSocket: string;
  /** CIDRs whose X-Forwarded-For and X-Forwarded-Proto are believed. */
  trustedProxies: readonly string[];
  /** Expect a PROXY protocol header on connections from `trustedProxies`. */
  proxyProtocol: boolean;
  /** Threads; null lets HAProxy use every core. */
  threads: number | null;
  /** Concurrent connections; null lets HAProxy derive it from the file descriptor limit. */
  maxConnections: number | null;
  log: LogTarget;
  /** Unix socket (stream) that gets every log line as well; null for none. */
  eventSocket: string | null;
  /** Unix socket (stream) that gets a line for every request; null: only what was refused or failed is told. */
  trafficSocket: string | null;
  /** Unix socket of the management API for hosts that forward to it; null: they reach it like any origin. */
  apiSocket: string | null;
  /** Authorities that https origins with verification on are checked against, PEM bundle. */
  originAuthorities: string;
  rateLimit: RateLimitSettings | null;
  /** null: no host is judged, whatever its flags. */
  guard: GuardSettings | null;
  /** null: it keeps the rights it is started with. */
  confinement: ConfinementSettings | null;
  /** Bytes of one buffer: bounds request headers and one runtime API payload. */
  bufferBytes: number;
};

/** A setting that cannot be written into haproxy.cfg; `setting` names it. */
export class InvalidSetting extends Error {
  readonly setting: string;
  constructor(setting: string, reason: string) {
    super(`${setting}: ${reason}`);
    this.name = 'InvalidSetting';
    this.setting = setting;
  }
}

// sockaddr_un holds 108 bytes; HAProxy binds "<path>.<pid>.tmp" first and renames it.
const maxSocketPath = 92;

const checkPort = (setting: string, port: number): void => {
  if (!Number.isInteger(port) || port < 1 || port > 65535) throw new InvalidSetting(setting, 'port must be 1-65535');
};

const checkPath = (setting: string, path: string): void => {
  if (!isAbsolute(path)) throw new InvalidSetting(setting, 'must be an absolute path');
  // A single quote would end the strong quoting, a control character the line.
  if (/[\u0000-\u001f\u007f']/.test(path)) {
    throw new InvalidSetting(setting, 'must not hold quotes or control characters');
  }
};

const checkSocket = (setting: string, path: string): void => {
  checkPath(setting, path);
  // Addresses are lists, and variables are put in for their names, within quotes as well.
  if (/[,$]/.test(path)) throw new InvalidSetting(setting, 'must not hold commas or $');
  if (Buffer.byteLength(path) > maxSocketPath) {
    throw new InvalidSetting(setting, `a unix socket path may have at most ${maxSocketPath} bytes`);
  }
};

const checkCidr = (setting: string, cidr: string): void => {
  const [address = '', prefix, ...rest] = cidr.split('/');
  const bits = isIPv4(address) ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (isIP(address) === 0 || address.includes('%') || !isPrefix || rest.length > 0) {
    throw new InvalidSetting(setting, `not an address or CIDR: ${JSON.stringify(cidr)}`);
  }
};

const checkAccount = (setting: string, name: string): void => {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(name)) throw new InvalidSetting(setting, 'not the name of an account');
};

const checkCount = (setting: string, value: number, minimum: number, maximum: number): void => {
  if (!Number.isInteger(value) || value < minimum || value > maximum) {
    throw new InvalidSetting(setting, `must be a whole number from ${minimum} to ${maximum}`);
  }
};

const checkBind = (setting: string, bind: BindAddress): void => {
  if (isIP(bind.address) === 0 || bind.address.includes('%')) {
    throw new InvalidSetting(setting, `not an IP address: ${JSON.stringify(bind.address)}`);
  }
  checkPort(setting, bind.port);
};

/** Throws InvalidSetting unless every value can be written into haproxy.cfg as it is. */
export const checkSettings = (settings: ConfigSettings): void => {
  for (const bind of settings.http) checkBind('http', bind);
  for (const bind of settings.https) checkBind('https', bind);
  if (settings.http.length + settings.https.length === 0) throw new InvalidSetting('http', 'no listening address');
  if (settings.publicHttpsPort !== null) checkPort('publicHttpsPort', settings.publicHttpsPort);
  checkSocket('adminSocket', settings.adminSocket);
  for (const cidr of settings.trustedProxies) checkCidr('trustedProxies', cidr);
  if (settings.proxyProtocol && settings.trustedProxies.length === 0) {
    throw new InvalidSetting(
      'proxyProtocol',
      'needs trustedProxies: whoever may send a PROXY header chooses its address',
    );
  }
  if (settings.threads !== null) checkCount('threads', settings.threads, 1, 64);
  if (settings.maxConnections !== null) checkCount('maxConnections', settings.maxConnections, 10, 10_000_000);
  if (settings.log.to === 'socket') checkSocket('log', settings.log.path);
  if (settings.eventSocket !== null) checkSocket('eventSocket', settings.eventSocket);
  if (settings.trafficSocket !== null) checkSocket('trafficSocket', settings.trafficSocket);
  if (settings.apiSocket !== null) checkSocket('apiSocket', settings.apiSocket);
  checkPath('originAuthorities', settings.originAuthorities);
  if (settings.rateLimit) checkCount('rateLimit', settings.rateLimit.windowSec, 1, 86_400);
  if (settings.guard) {
    const { agents, relays, spoeFile, returnSocket, timeoutMs } = settings.guard;
    checkPath('guard', spoeFile);
    for (const path of [...agents, ...relays, returnSocket]) checkSocket('guard', path);
    if (agents.length === 0 || relays.length === 0) throw new InvalidSetting('guard', 'no workers');
    checkCount('guard', timeoutMs, 1, 60_000);
  }
  if (settings.confinement) {
    checkAccount('confinement', settings.confinement.user);
    checkAccount('confinement', settings.confinement.group);
    checkPath('confinement', settings.confinement.directory);
  }
  checkCount('bufferBytes', settings.bufferBytes, 16_384, 1_048_576);
};

/** What a deployment gets unless it says otherwise; addresses and the socket path have no default. */
export const defaultSettings = {
  publicHttpsPort: 443,
  trustedProxies: [],
  proxyProtocol: false,
  threads: null,
  maxConnections: null,
  log: { to: 'stdout' },
  eventSocket: null,
  trafficSocket: null,
  apiSocket: null,
  originAuthorities: '/etc/ssl/certs/ca-certificates.crt',
  rateLimit: null,
  guard: null,
  confinement: null,
  bufferBytes: 16_384,
} as const satisfies Partial<ConfigSettings>;
