import { randomBytes, X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { createAcmeClient, makeCertificateKey, makeCsr } from '@sallyport/acme';
import { listProcesses } from '@sallyport/deployment/processes';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Named, startNamed } from '../../../../../../test/support/start-named.ts';
import { startPebble } from '../../../../../../test/support/start-pebble.ts';
import { until } from '../../../../../../test/support/until.ts';
import { openAcmeTransport } from '../../../net/acme-transport.ts';
import {
  byLego,
  byUpdate,
  failureOf,
  givenDnsWriter,
  silentPort,
  startZones,
} from '../../../testing/given-dns-writer.ts';
import type { DnsChallenge } from './writer.ts';

let named: Named;
beforeAll(async () => {
  named = await startZones();
});
afterAll(() => named.stop());

describe.each([
  ['nsupdate', byUpdate],
  ['lego', byLego],
] as const)('by %s', (who, provider) => {
  test('a record is there while it is open, and where a CNAME leads', async () => {
    const { writer, challenge, context, directory } = givenDnsWriter(named);
    for (const [domain, name] of [
      ['a.zone.test', '_acme-challenge.a.zone.test'],
      ['led.zone.test', 'led.other.test'],
    ] as const) {
      const one = challenge(domain);
      const open = await writer.open(provider(named), [one], context);
      expect(await named.textOf(name)).toEqual([one.value]);
      await open.close();
      expect(await named.textOf(name)).toEqual([]);
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a wrong TSIG secret is told for what it is, and not repeated', async () => {
    const { writer, challenge, context, directory } = givenDnsWriter(named);
    const { fields, secrets, type } = provider(named);
    const wrong = randomBytes(32).toString('base64');
    const name = Object.keys(secrets).find((key) => /secret/i.test(key)) ?? '';
    const access = { type, fields, secrets: { ...secrets, [name]: wrong } };
    const error = await failureOf(writer.open(access, [challenge('b.zone.test')], context));
    expect(error).toMatchObject({
      name: 'DnsWriteFailed',
      message: expect.stringMatching(/BADSIG|bad authentication/),
    });
    expect(error.message).not.toContain(wrong);
    expect(await named.textOf('_acme-challenge.b.zone.test')).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('a wildcard and its parent are certified', async () => {
    const { writer, context } = givenDnsWriter(named);
    const pebble = await startPebble({ resolver: named.resolver, isStrict: false });
    onTestFinished(() => pebble.stop());
    const { transport, close } = await openAcmeTransport({ caCertificate: pebble.ca });
    onTestFinished(close);
    const { directoryUrl } = pebble;
    const client = createAcmeClient({ directoryUrl, accountKey: context.accountKeyPem, transport });
    await client.register({ email: 'dns@example.com', termsAgreed: true });
    const names = [`*.${who}.zone.test`, `${who}.zone.test`];
    const order = await client.newOrder({ names });
    const proofs = new Map<string, { url: string; authorization: string }>();
    const challenges: DnsChallenge[] = [];
    for (const authorization of order.authorizations) {
      const { name, challenges: offered } = await client.authorization(authorization);
      const { token = '', url = '' } = offered.find(({ type }) => type === 'dns-01') ?? {};
      challenges.push({ domain: name, token, value: await client.dnsRecordValue(token) });
      proofs.set(token, { url, authorization });
    }
    for (const round of await writer.rounds(provider(named), challenges)) {
      const open = await writer.open(provider(named), round, context);
      for (const { token } of round) {
        const { url = '', authorization = '' } = proofs.get(token) ?? {};
        await client.startChallenge(url);
        await client.waitForAuthorization(authorization);
      }
      await open.close();
    }
    await client.waitForOrder(order.url);
    const keyPem = await makeCertificateKey('p256');
    await client.finalize(order, await makeCsr({ names, keyPem }));
    const { certificate = '' } = await client.waitForOrder(order.url);
    const chain = await client.certificate(certificate, { names, keyPem });
    expect(new X509Certificate(chain).subjectAltName).toContain(`DNS:*.${who}.zone.test`);
    expect(await named.textOf(`_acme-challenge.${who}.zone.test`)).toEqual([]);
  });

  test('CNAME records that lead in a circle are told', async () => {
    const { writer, challenge, context } = givenDnsWriter(named);
    const error = await failureOf(writer.open(provider(named), [challenge('round.zone.test')], context));
    expect(error.message).toBe('the CNAME records of _acme-challenge.round.zone.test lead in a circle');
  });

  test('CNAME records that lead to what is more than a name are refused, and nothing is written', async () => {
    const { writer, challenge, context } = givenDnsWriter(named);
    const { fields, ...access } = provider(named);
    const inZone = who === 'lego' ? fields : { ...fields, zone: 'zone.test' };
    const opening = writer.open({ ...access, fields: inZone }, [challenge('planting.zone.test')], {
      ...context,
      waitMs: 100,
    });
    expect((await failureOf(opening)).message).toMatch(
      /^the CNAME records of _acme-challenge\.planting\.zone\.test lead to "planted\.zone\.test\. 60 in txt planted\.x", where no record can/,
    );
    expect(await named.textOf('planted.zone.test')).toEqual([]);
  });

  test('a record that the servers of its zone do not show in time is taken away again', async () => {
    const elsewhere = await startNamed({ zones: { 'zone.test': [] } });
    onTestFinished(() => elsewhere.stop());
    // lego asks the resolver which zone it is, and writes to its own server.
    const { writer, challenge, context, directory } = givenDnsWriter(elsewhere);
    const error = await failureOf(
      writer.open(provider(named), [challenge('late.zone.test')], { ...context, waitMs: 100 }),
    );
    expect(error.message).toMatch(
      /^The provider took the record, but .* ns1\.zone\.test \(127\.0\.0\.1:\d+\) does not show TXT _acme-challenge\.late\.zone\.test$/,
    );
    expect(await named.textOf('_acme-challenge.late.zone.test')).toEqual([]);
    expect(readdirSync(directory)).toEqual([]);
  });

  test('what is given up half-way leaves nothing behind', async () => {
    const { writer, challenge, context, directory } = givenDnsWriter(named);
    const port = await silentPort();
    const access = provider(named);
    const fields =
      who === 'lego'
        ? { ...access.fields, RFC2136_NAMESERVER: `127.0.0.1:${port}`, RFC2136_DNS_TIMEOUT: '1' }
        : { ...access.fields, port: String(port), zone: 'zone.test' };
    const ending = new AbortController();
    // lego asks that server for each label of the name, ten seconds long, and when it cleans up once more.
    const opening = failureOf(
      writer.open({ ...access, fields }, [challenge('zone.test')], { ...context, signal: ending.signal }),
    );
    const isOurs = ({ argv, parentPid }: { argv: readonly string[]; parentPid: number }) =>
      parentPid === process.pid && (argv[0] ?? '').endsWith(who);
    await until('it is under way', () => listProcesses().some(isOurs));
    ending.abort(new Error('the server stops'));
    expect((await opening).message).toBe('the server stops');
    await until('nothing of it runs', () => !listProcesses().some(isOurs), 90_000);
    await until('nothing of it is left', () => readdirSync(directory).length === 0);
  });
});

test('a provider of a type that is not known any more is told', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const gone = { type: 'gone', fields: {}, secrets: {} };
  expect((await failureOf(writer.open(gone, [challenge('a.zone.test')], context))).message).toContain(
    'No DNS provider of type gone is known here',
  );
});
