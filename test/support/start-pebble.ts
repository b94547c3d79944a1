import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './certificates.ts';
import { freePorts } from './free-ports.ts';
import { until } from './until.ts';

export interface PebbleOptions {
  /** Keys (base64url) by key identifier: accounts must be bound to one of them (EAB). */
  externalAccounts?: Readonly<Record<string, string>>;
  /** How many of a hundred good nonces are called bad. Default 0. */
  badNonces?: number;
  /** How many of a hundred authorizations are taken over from earlier orders. Default 0. */
  reusedAuthorizations?: number;
  /** Nothing is validated: every challenge succeeds. */
  isCredulous?: boolean;
  /** Pebble's `-strict`. */
  isStrict?: boolean;
  alternateRoots?: number;
  /** How long certificates are valid. Default: Pebble's five years. */
  validitySeconds?: number;
  /** Names it refuses to certify (`rejectedIdentifier`), with all below them. */
  refusedNames?: readonly string[];
  /** Where http-01 is validated, on 127.0.0.1: give one that something listens on already. Default: a free one, see `httpPort`. */
  httpPort?: number;
  /** `127.0.0.1:53`, say, instead of the DNS that comes along and has 127.0.0.1 for every name. */
  resolver?: string;
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    socket.once('connect', () => socket.destroy() && resolve(true)).once('error', () => resolve(false));
  });

interface Program {
  child: ChildProcess;
  exited: Promise<void>;
  said(): string;
}

const run = (command: string, args: readonly string[], env: Record<string, string> = {}): Program => {
  const child = spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (piece: Buffer) => {
      said = (said + piece).slice(-200_000);
    });
  }
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    // There is no such program.
    child.once('error', (error) => {
      said += error;
      resolve();
    });
  });
  return { child, exited, said: () => said };
};

const listening = (program: Program, ports: readonly number[]): Promise<true> =>
  until(
    `${program.child.spawnfile} takes connections`,
    async () => {
      const { exitCode, signalCode, pid } = program.child;
      if (pid === undefined || exitCode !== null || signalCode !== null) {
        throw new Error(`${program.child.spawnfile} ended: ${program.said()}`);
      }
      return (await Promise.all(ports.map(isOpen))).every(Boolean) || undefined;
    },
    60_000,
  );

const getText = (url: string, ca: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const asked = request(url, { ca, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.once('end', () => (response.statusCode === 200 ? resolve(text) : reject(new Error(`${url}: ${text}`))));
    });
    asked.once('error', reject).end();
  });

/** DNS that Pebble asks (pebble-challtestsrv). Names are whole ones, without the last dot. */
const startDns = async () => {
  const [dnsPort = 0, managementPort = 0] = await freePorts(2);
  const none = ['-http01', '', '-https01', '', '-tlsalpn01', ''];
  const dns = ['-dns01', `127.0.0.1:${dnsPort}`, '-defaultIPv4', '127.0.0.1', '-defaultIPv6', ''];
  const program = run('pebble-challtestsrv', [...dns, '-management', `127.0.0.1:${managementPort}`, ...none]);
  await listening(program, [dnsPort, managementPort]);
  const tell = async (what: string, about: object): Promise<void> => {
    const url = `http://127.0.0.1:${managementPort}/${what}`;
    const { ok, status } = await fetch(url, { method: 'POST', body: JSON.stringify(about) });
    if (!ok) throw new Error(`pebble-challtestsrv refuses ${what} (${status})`);
  };
  return {
    program,
    /** `127.0.0.1:PORT`, UDP and TCP. */
    resolver: `127.0.0.1:${dnsPort}`,
    /** One more value for the TXT record of a name. */
    addText: (name: string, value: string) => tell('set-txt', { host: `${name}.`, value }),
    clearText: (name: string) => tell('clear-txt', { host: `${name}.` }),
    setAddresses: async (name: string, addresses: readonly string[]) => {
      await tell('clear-a', { host: `${name}.` });
      await tell('add-a', { host: `${name}.`, addresses });
    },
    setAlias: (name: string, target: string) => tell('set-cname', { host: `${name}.`, target: `${target}.` }),
    /** `policies`: `[{ tag: 'issue', value: 'ca.example' }]`. */
    setCaa: (name: string, policies: readonly { tag: string; value: string }[]) =>
      tell('add-caa', { host: `${name}.`, policies }),
    /** From now on questions about the name fail (SERVFAIL). */
    breakName: (name: string) => tell('set-servfail', { host: `${name}.` }),
    mendName: (name: string) => tell('clear-servfail', { host: `${name}.` }),
  };
};

/**
 * Starts Debian's Pebble, a certificate authority for tests, on free ports of loopback, with a DNS of its own that has 127.0.0.1 for every
 * name. It waits for nothing and calls no nonce bad, unless it is told to.
 */
export const startPebble = async (options: PebbleOptions = {}) => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-pebble-'));
  const at = (name: string) => join(directory, name);
  const [port = 0, managementPort = 0, freeHttpPort = 0, tlsPort = 0] = await freePorts(4);
  const httpPort = options.httpPort ?? freeHttpPort;
  const { certificate: ca, key } = makeCertificate(['localhost', '127.0.0.1']);
  writeFileSync(at('certificate.pem'), ca);
  writeFileSync(at('key.pem'), key, { mode: 0o600 });
  const configuration = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: at('certificate.pem'),
    privateKey: at('key.pem'),
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: options.externalAccounts !== undefined,
    externalAccountMACKeys: options.externalAccounts ?? {},
    domainBlocklist: options.refusedNames ?? [],
    certificateValidityPeriod: options.validitySeconds ?? 0,
  };
  writeFileSync(at('pebble.json'), JSON.stringify({ pebble: configuration }));
  const dns = await startDns();
  const program = run(
    'pebble',
    [
      '-config',
      at('pebble.json'),
      '-dnsserver',
      options.resolver ?? dns.resolver,
      `-strict=${options.isStrict === true}`,
    ],
    {
      PEBBLE_VA_NOSLEEP: '1',
      PEBBLE_WFE_NONCEREJECT: String(options.badNonces ?? 0),
      PEBBLE_AUTHZREUSE: String(options.reusedAuthorizations ?? 0),
      PEBBLE_ALTERNATE_ROOTS: String(options.alternateRoots ?? 0),
      ...(options.isCredulous ? { PEBBLE_VA_ALWAYS_VALID: '1' } : {}),
    },
  );
  const management = `https://127.0.0.1:${managementPort}`;
  const stop = async (): Promise<void> => {
    for (const { child, exited } of [program, dns.program]) {
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await listening(program, [port, managementPort]);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    directoryUrl: `https://127.0.0.1:${port}/dir`,
    /** What its own HTTPS is verified with, PEM. */
    ca,
    dns,
    /** Where it asks for http-01, on whatever address DNS says. */
    httpPort,
    /** What a service has to be told, by POST /settings, so that it looks where this authority looks. */
    settings: [
      { key: 'acme.dns_resolvers', value: options.resolver ?? dns.resolver },
      { key: 'acme.http_port', value: String(httpPort) },
    ],
    /** Certificate of its root, PEM; a new one with each start. `index`: which, of its alternate roots. */
    root: (index = 0): Promise<string> => getText(`${management}/roots/${index}`, ca),
    /** `Valid` or `Revoked`; `serial` as Node tells it. */
    async statusOf(serial: string): Promise<string> {
      const text = await getText(`${management}/cert-status-by-serial/${serial.toLowerCase()}`, ca);
      return (JSON.parse(text) as { Status: string }).Status;
    },
    /** Has it take connections and answer nothing, until `goOn`. */
    hang: () => program.child.kill('SIGSTOP'),
    goOn: () => program.child.kill('SIGCONT'),
    /** What it has written, for whoever looks for a failure's cause. */
    log: program.said,
    stop,
  };
};

export type Pebble = Awaited<ReturnType<typeof startPebble>>;
