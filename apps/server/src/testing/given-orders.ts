import type { Certificate, CertificateInUse, DnsProvider } from '@sallyport/contract';
import { expect } from 'vitest';
import { until } from '../../../../test/support/until.ts';
import { createGiven } from './given-accounts.ts';
import type { TestApp } from './start-app.ts';
import type { ScriptedCa } from './start-scripted-ca.ts';

/** Generous: a busy machine must not reach it. */
export const SOON_MS = 60_000;

/** An account with the authority, and what is needed to order by dns-01: its orders are ready, so that no record is written. */
export const prepare = async (app: TestApp, ca: ScriptedCa) => {
  const { headers } = await createGiven(app).administrator();
  for (const [key, value] of [
    ['acme.dns_resolvers', '127.0.0.1:9'],
    ['acme.dns_provider', 'hook'],
  ]) {
    expect((await app.send('POST', '/settings', { key, value }, headers)).status).toBe(200);
  }
  expect((await app.send('POST', '/acme/accounts', ca.account)).status).toBe(201);
  const hook = { name: 'hook', type: 'webhook', fields: { url: 'http://127.0.0.1:9/' } };
  const { body } = await app.send<DnsProvider>('POST', '/dns-providers', hook);
  return body.id;
};
/** Orders a certificate for these names. Returns its id. */
export const order = async (app: TestApp, dns_provider_id: number, names: readonly string[]): Promise<number> => {
  const wanted = { names, dns_provider_id };
  const { status, body } = await app.send<{ certificate: Certificate }>('POST', '/certificates/order', wanted);
  // What else it says is to be seen where it fails.
  expect({ status, body }).toMatchObject({ status: 202, body: { certificate: { id: expect.any(Number) } } });
  return body.certificate.id;
};

export const read = async (app: TestApp, id: number) =>
  (await app.send<CertificateInUse>('GET', `/certificates/${id}`)).body;

/** Waits until a certificate is as wanted. */
export const settled = (app: TestApp, id: number, wanted: (certificate: CertificateInUse) => boolean) =>
  until(
    `certificate ${id} is as wanted`,
    async () => {
      const certificate = await read(app, id);
      return wanted(certificate) ? certificate : undefined;
    },
    SOON_MS,
  );

/** No attempt to have it is under way. */
export const hasEnded = ({ steps }: CertificateInUse) => steps.every(({ status }) => status !== 'running');
