import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-ports.ts';
import { until } from './until.ts';

export interface NamedOptions {
  /** Zones that the key may change, each with more lines of its zone file: `a 60 IN A 192.0.2.1`, say. */
  zones: Readonly<Record<string, readonly string[]>>;
}

const PROGRAM = '/usr/sbin/named';

const zoneText = (zone: string, lines: readonly string[]): string =>
  [
    '$TTL 60',
    `@ IN SOA ns1.${zone}. hostmaster.${zone}. 1 3600 600 86400 60`,
    `@ IN NS ns1.${zone}.`,
    'ns1 IN A 127.0.0.1',
    ...lines,
    '',
  ].join('\n');

/**
 * Starts Debian's BIND on a free port of loopback, the primary of some zones. It takes updates signed with a key (RFC 2136, TSIG),
 * and asks nobody.
 */
export const startNamed = async ({ zones }: NamedOptions) => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-named-'));
  // It writes its journals there.
  chmodSync(directory, 0o700);
  const port = await freePort();
  const key = { name: 'sallyport-test', algorithm: 'hmac-sha256', secret: randomBytes(32).toString('base64') };
  for (const [zone, lines] of Object.entries(zones))
    writeFileSync(join(directory, `${zone}.zone`), zoneText(zone, lines));
  const zoneClause = (zone: string) =>
    `zone "${zone}" { type primary; file "${zone}.zone"; allow-update { key "${key.name}"; }; notify no; };`;
  const configuration = [
    `key "${key.name}" { algorithm ${key.algorithm}; secret "${key.secret}"; };`,
    `options { directory "${directory}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };`,
    '  pid-file none; session-keyfile none; recursion no; dnssec-validation no; empty-zones-enable no; };',
    'controls { };',
    ...Object.keys(zones).map(zoneClause),
  ];
  const file = join(directory, 'named.conf');
  writeFileSync(file, `${configuration.join('\n')}\n`, { mode: 0o600 });
  const child = spawn(PROGRAM, ['-g', '-n', '1', '-c', file], { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (piece: Buffer) => {
    said = (said + piece).slice(-100_000);
  });
  child.once('error', (error) => {
    said += error;
  });
  const exited = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined) {
      // One that was stopped where it is ends all the same.
      child.kill('SIGKILL');
      await exited;
    }
    rmSync(directory, { recursive: true, force: true });
  };
  const resolver = new Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  try {
    await until(
      'named answers',
      async () => {
        if (child.pid === undefined || child.exitCode !== null) throw new Error(`named ended: ${said}`);
        const names = Object.keys(zones);
        const asked = await Promise.allSettled(names.map((zone) => resolver.resolveSoa(zone)));
        return asked.every(({ status }) => status === 'fulfilled');
      },
      60_000,
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    /** `127.0.0.1:PORT`, UDP and TCP. */
    resolver: `127.0.0.1:${port}`,
    key,
    /** Values of the TXT records of a name; none where there is no such name. */
    textOf: async (name: string): Promise<string[]> => {
      const records = await resolver.resolveTxt(name).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOTFOUND' || error.code === 'ENODATA') return [];
        throw error;
      });
      return records.map((parts) => parts.join('')).sort();
    },
    /** It takes packets and answers none, until it is resumed. */
    suspend: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    /** What it has written, for whoever looks for a failure's cause. */
    log: () => said,
    stop,
  };
};
export type Named = Awaited<ReturnType<typeof startNamed>>;
