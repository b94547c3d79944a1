import { spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { listProcesses, readEnvironment } from '@sallyport/deployment/processes';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Named, startNamed } from '../../../../../../../test/support/start-named.ts';
import { until } from '../../../../../../../test/support/until.ts';
import { byLego, failureOf, givenDnsWriter, startZones } from '../../../../testing/given-dns-writer.ts';
import { readAccountKey, recordValue } from './account-key.ts';

let named: Named;
beforeAll(async () => {
  named = await startZones();
});
afterAll(() => named.stop());

/** The lego that a writer with this directory runs. */
const legoIn = (directory: string) => {
  const [found] = listProcesses().filter(({ argv }) => argv.some((word) => word.startsWith(directory)));
  return found;
};

test('writes one value after the other where a second one would push the first one out', async () => {
  const { writer, challenge } = givenDnsWriter(named);
  const challenges = [challenge('x.zone.test'), challenge('x.zone.test')];
  expect(await writer.rounds(byLego(named), challenges)).toEqual(challenges.map((one) => [one]));
  const cloudflare = { type: 'cloudflare', fields: {}, secrets: {} };
  expect(await writer.rounds(cloudflare, challenges)).toEqual([challenges]);
});

test('has nothing of our environment, no secret in its arguments, and a key that nobody else can read', async () => {
  process.env.SALLYPORT_TEST_ONLY = 'not for lego';
  onTestFinished(() => {
    delete process.env.SALLYPORT_TEST_ONLY;
  });
  const { writer, challenge, context, directory } = givenDnsWriter(named);
  const access = byLego(named);
  const open = await writer.open(
    { ...access, fields: { ...access.fields, LD_PRELOAD: '/tmp/x.so' } },
    [challenge('e.zone.test')],
    context,
  );
  const lego = legoIn(directory);
  const environment = readEnvironment(lego?.pid ?? 0);
  expect(
    [...(environment?.keys() ?? [])].filter((name) => !/^(RFC2136_|SSL_CERT_|.*_proxy$)/i.test(name)).sort(),
  ).toEqual(['HOME', 'LEGO_CA_CERTIFICATES', 'LEGO_EXPERIMENTAL_CNAME_SUPPORT', 'PATH', 'TMPDIR']);
  expect(lego?.argv.join(' ')).not.toContain(named.key.secret);
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const keys = files.filter((path) => path.endsWith('.key'));
  expect(keys).toHaveLength(1);
  const [run = ''] = files;
  expect(statSync(join(directory, run)).mode & 0o777).toBe(0o700);
  expect(statSync(join(directory, keys[0] ?? '')).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(directory, keys[0] ?? ''), 'utf8')).toContain('BEGIN EC PRIVATE KEY');
  await open.close();
  expect(readdirSync(directory)).toEqual([]);
});

test('killed while its record is there, it leaves neither record nor key', async () => {
  const { writer, challenge, context, directory } = givenDnsWriter(named);
  const open = await writer.open(byLego(named), [challenge('k.zone.test')], context);
  const { pid = 0 } = legoIn(directory) ?? {};
  process.kill(pid, 'SIGKILL');
  await until('the key is gone', () => readdirSync(directory).length === 0);
  expect(await named.textOf('_acme-challenge.k.zone.test')).toHaveLength(1);
  await open.close();
  expect(await named.textOf('_acme-challenge.k.zone.test')).toEqual([]);
  expect(readdirSync(directory)).toEqual([]);
});

test('takes its record away when we are killed', async () => {
  const { challenge, context, directory } = givenDnsWriter(named);
  const one = challenge('orphan.zone.test');
  const from = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const program = `
    const { createDnsRecordWriter } = await import(${from('../create-writer.ts')});
    const { createLegoTypes } = await import(${from('./types.ts')});
    const { createProviderTypes } = await import(${from('../types.ts')});
    const { createNameServers } = await import(${from('../../../../net/name-servers.ts')});
    const { resolver, directory, access, one, accountKeyPem } = JSON.parse(process.env.GIVEN);
    const lego = createLegoTypes();
    const nameServers = async () => createNameServers([resolver]);
    const writer = createDnsRecordWriter({ nameServers, types: createProviderTypes(lego), lego, directory });
    await writer.open(access, [one], { accountKeyPem, signal: new AbortController().signal });
    console.log('open');`;
  const told = {
    resolver: named.resolver,
    directory,
    access: byLego(named),
    one,
    accountKeyPem: context.accountKeyPem,
  };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    env: { ...process.env, GIVEN: JSON.stringify(told) },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  expect(await named.textOf('_acme-challenge.orphan.zone.test')).toEqual([one.value]);
  child.kill('SIGKILL');
  await ended;
  await until('the record is gone', async () => {
    return (await named.textOf('_acme-challenge.orphan.zone.test')).length === 0;
  });
  await until('lego has ended', () => legoIn(directory) === undefined);
});

test('what it can not take away is told', async () => {
  const mortal = await startNamed({ zones: { 'zone.test': [] } });
  onTestFinished(() => mortal.stop());
  const { writer, challenge, context } = givenDnsWriter(mortal);
  const { type, fields } = byLego(named);
  const access = {
    type,
    fields: { ...fields, RFC2136_NAMESERVER: mortal.resolver },
    secrets: { RFC2136_TSIG_KEY: mortal.key.name, RFC2136_TSIG_SECRET: mortal.key.secret },
  };
  const open = await writer.open(access, [challenge('stuck.zone.test')], context);
  await mortal.stop();
  const error = await failureOf(open.close());
  expect(error.message).toMatch(/^lego \(rfc2136\) could not take the record away: /);
});

test('a challenge of another account, and a key that it can not hold, are refused', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const other = { ...challenge('o.zone.test'), value: 'x'.repeat(43) };
  expect((await failureOf(writer.open(byLego(named), [other], context))).message).toBe(
    'the challenge is not one of this account',
  );
  const { privateKey } = generateKeyPairSync('ed25519');
  const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  const error = await failureOf(writer.open(byLego(named), [challenge('o.zone.test')], { ...context, accountKeyPem }));
  expect(error.message).toBe('lego takes accounts with ECDSA or RSA keys, not ed25519');
});

test('sets records for accounts with RSA and P-384 keys as well', async () => {
  const { writer, context } = givenDnsWriter(named);
  for (const { privateKey } of [
    generateKeyPairSync('rsa', { modulusLength: 2_048 }),
    generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  ]) {
    const accountKeyPem = privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
    const value = recordValue('token', readAccountKey(accountKeyPem));
    const one = { domain: 'keys.zone.test', token: 'token', value };
    const open = await writer.open(byLego(named), [one], { ...context, accountKeyPem });
    await open.close();
  }
});
