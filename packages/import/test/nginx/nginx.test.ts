import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ImportedHost, readFiles, readNginx } from '../../src/index.ts';
import { ACCEPTED } from './accepted.ts';
import { REFUSED } from './refused.ts';

const directory = mkdtempSync(join(tmpdir(), 'sallyport-nginx-'));

beforeAll(() => {
  const subject = ['-subj', '/CN=a.test', '-keyout', join(directory, 'key.pem'), '-out', join(directory, 'cert.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...key, ...subject], { stdio: 'ignore' });
});
afterAll(() => rmSync(directory, { recursive: true }));

const wrap = (text: string): string => `events { }\npid nginx.pid;\nhttp {\n${text}\n}\n`;

/** What `nginx -T` prints for a text, or undefined when it refuses it; no port is opened. */
const dump = (name: string, text: string): Promise<string | undefined> => {
  const file = join(directory, `${name.replaceAll(/\W/g, '-')}.conf`);
  writeFileSync(file, wrap(text));
  return new Promise((resolve, reject) => {
    const args = ['-T', '-p', directory, '-e', join(directory, 'error.log'), '-c', file];
    execFile('/usr/sbin/nginx', args, (error, stdout) => {
      if (!error) resolve(stdout);
      // One that could not be run, or was killed, refuses nothing.
      else if (error.code === 1) resolve(undefined);
      else reject(error);
    });
  });
};

const summary = (host: ImportedHost): string => {
  const hsts = host.hsts_subdomains ? 'hsts+sub' : 'hsts';
  const flags = [
    [host.ssl_forced, 'ssl'],
    [host.websocket_support, 'ws'],
    [host.http2_support, 'h2'],
    [host.forward_verify_tls, 'verify'],
    [host.forward_http2, 'grpc'],
    [host.hsts_enabled, hsts],
    [host.enabled === false, 'off'],
  ] as const;
  const to = `${host.forward_scheme}://${host.forward_host}:${host.forward_port}`;
  return [host.domain, '→', to, ...flags.filter(([on]) => on).map(([, word]) => word)].join(' ');
};

test('what nginx accepts is read as hosts, and what they can not say is told', { timeout: 300_000 }, async () => {
  expect(ACCEPTED.length).toBeGreaterThanOrEqual(40);
  for (const { name, text, hosts, warnings = [] } of ACCEPTED) {
    const printed = await dump(name, text);
    expect.soft(printed, `nginx accepts: ${name}`).toBeDefined();
    const reading = readFiles([{ name: 'nginx.conf', content: printed ?? '' }]);
    expect.soft({ name, errors: reading.errors }).toEqual({ name, errors: [] });
    expect.soft({ name, hosts: reading.hosts.map(summary) }).toEqual({ name, hosts });
    const told = [...reading.hosts.flatMap((host) => host.warnings), ...reading.warnings, ...reading.staticFiles];
    const messages = told.map(({ message }) => message).join('\n');
    for (const piece of warnings) expect.soft(messages, name).toContain(piece);
    // A warning without a place helps nobody.
    for (const { file, line } of told)
      expect.soft({ name, file, line }).toMatchObject({ file: expect.stringMatching(/\.conf$/) });
  }
});

test('what nginx refuses is refused, with its place', { timeout: 300_000 }, async () => {
  for (const [name, text, where, message] of REFUSED) {
    expect.soft(await dump(name, text), `nginx refuses: ${name}`).toBeUndefined();
    const { errors, hosts } = readNginx([{ name: 'a.conf', content: text }]);
    const [first] = errors;
    expect.soft({ name, where: `${first?.line}:${first?.column}`, hosts }).toEqual({ name, where, hosts: [] });
    expect.soft(first?.message, name).toContain(message);
    expect.soft(first?.text, name).not.toBe('');
  }
});
