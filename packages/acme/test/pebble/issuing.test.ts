import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Pebble, startPebble } from '../../../../test/support/start-pebble.ts';
import { AcmeProblem, makeCertificateKey } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { complete, type Prove, type Responder, registered, startResponder } from './given.ts';

describe('what an authority certifies', () => {
  let pebble: Pebble;
  let responder: Responder;
  beforeAll(async () => {
    pebble = await startPebble({ alternateRoots: 2 });
    responder = await startResponder(pebble.httpPort);
  });
  afterAll(async () => {
    await responder?.stop();
    await pebble?.stop();
  });

  test('certifies several names and an address by http-01, with every type of key', async () => {
    const client = await registered(pebble);
    const names = ['b.example.com', 'A.example.com', '127.0.0.1'];
    for (const type of ['p256', 'p384', 'rsa2048'] as const) {
      const keyPem = await makeCertificateKey(type);
      const order = await client.newOrder({ names });
      expect(order).toMatchObject({ status: 'pending', certificate: undefined, error: undefined });
      expect(order.expires?.getTime()).toBeGreaterThan(Date.now());
      const chain = await complete(client, order, 'http-01', responder.byHttp(client), keyPem);
      const leaf = new X509Certificate(chain);
      expect(leaf.subjectAltName?.split(', ').sort()).toEqual([
        'DNS:a.example.com',
        'DNS:b.example.com',
        'IP Address:127.0.0.1',
      ]);
      expect(chain.match(/BEGIN CERTIFICATE/g)).toHaveLength(2);
    }
  });

  test('certifies a wildcard and its own parent by dns-01', async () => {
    const client = await registered(pebble);
    const keyPem = await makeCertificateKey('p256');
    const order = await client.newOrder({ names: ['*.wild.example', 'wild.example'] });
    const authorizations = await Promise.all(order.authorizations.map((url) => client.authorization(url)));
    expect(authorizations.map(({ name, wildcard }) => [name, wildcard]).sort()).toEqual([
      ['wild.example', false],
      ['wild.example', true],
    ]);
    const prove: Prove = async (name, token) =>
      pebble.dns.addText(`_acme-challenge.${name}`, await client.dnsRecordValue(token));
    const chain = await complete(client, order, 'dns-01', prove, keyPem);
    expect(new X509Certificate(chain).subjectAltName).toContain('DNS:*.wild.example');
  });

  test('a record behind an alias proves a name, and a wrong one does not', async () => {
    const client = await registered(pebble);
    await pebble.dns.setAlias('_acme-challenge.alias.example', 'alias.validation.example');
    const prove: Prove = async (_, token) =>
      pebble.dns.addText('alias.validation.example', await client.dnsRecordValue(token));
    const order = await client.newOrder({ names: ['alias.example'] });
    await complete(client, order, 'dns-01', prove, await makeCertificateKey('p256'));

    const other = await client.newOrder({ names: ['wrong.example'] });
    await pebble.dns.addText('_acme-challenge.wrong.example', 'nonsense');
    const work = complete(client, other, 'dns-01', async () => {}, await makeCertificateKey('p256'));
    const problem = (await failure(work)) as AcmeProblem;
    expect(problem).toBeInstanceOf(AcmeProblem);
    expect(problem.is('unauthorized')).toBe(true);
  });

  test('the chain to the root that is preferred, and the first one when there is no such root', async () => {
    const client = await registered(pebble);
    const { certificate, keyPem, order, chain } = await responder.issued(client, ['rooted.example']);
    const { names } = order;
    const issuerOf = (pem: string) =>
      new X509Certificate(pem.slice(pem.lastIndexOf('-----BEGIN CERTIFICATE'))).issuer.replace('CN=', '');
    for (const index of [1, 2]) {
      const preferredRoot = new X509Certificate(await pebble.root(index)).subject.replace('CN=', '');
      const other = await client.certificate(certificate, { names, keyPem, preferredRoot });
      expect(issuerOf(other)).toBe(preferredRoot);
      expect(other).not.toBe(chain);
    }
    expect(await client.certificate(certificate, { names, keyPem, preferredRoot: 'no such root' })).toBe(chain);
  });

  test('a certificate is revoked, once or twice', async () => {
    const client = await registered(pebble);
    const { chain } = await responder.issued(client, ['gone.example']);
    const { serialNumber } = new X509Certificate(chain);
    expect(await pebble.statusOf(serialNumber)).toBe('Valid');
    expect(await client.revoke(chain, { reason: 4 })).toBe('revoked');
    expect(await pebble.statusOf(serialNumber)).toBe('Revoked');
    expect(await client.revoke(chain)).toBe('was revoked');
    const stranger = await registered(pebble);
    const { chain: other } = await responder.issued(client, ['stays.example']);
    expect(await failure(stranger.revoke(other))).toBeInstanceOf(AcmeProblem);
    // Who holds its key needs no account of the one who had it.
    for (const type of ['p256', 'p384', 'rsa2048'] as const) {
      const held = await responder.issued(client, ['held.example'], type);
      const foreign = await failure(stranger.revoke(held.chain, { keyPem: await makeCertificateKey(type) }));
      expect(foreign).toBeInstanceOf(AcmeProblem);
      expect(await stranger.revoke(held.chain, { reason: 1, keyPem: held.keyPem })).toBe('revoked');
      expect(await pebble.statusOf(new X509Certificate(held.chain).serialNumber)).toBe('Revoked');
    }
  });

  test('when to renew is what this CA says, or nothing', async () => {
    const client = await registered(pebble);
    const { chain } = await responder.issued(client, ['renewed.example']);
    const info = await client.renewalInfo(chain);
    // Debian 12 has a Pebble that does not know ARI, Debian 13 one that does.
    if ((await client.directory()).renewalInfo === undefined) expect(info).toBeUndefined();
    else expect(info?.windowEnd.getTime()).toBeGreaterThan(info?.windowStart.getTime() ?? Number.NaN);
  });
});
