import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import type { Certificate, SignedIn } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { createProduct } from '../support/product.ts';
import { servedCertificate } from '../support/served-certificate.ts';
import { startPebble } from '../support/start-pebble.ts';
import { until } from '../support/until.ts';
import { seededRandom } from './seeded-random.ts';

/** An ordinary run ends the server so many times; ACME_KILLS=50 is the whole. */
const KILLS = Number(process.env.ACME_KILLS ?? 2);
/** An order takes about so long on a machine with nothing else to do. */
const ORDER_MS = 900;
const SOON_MS = 120_000;
/** Kills by which the supervisor begins to wait for long before it starts the server again: 0, 1, 2, 4 s, then 8 and more. */
const KILLS_A_SUPERVISOR = 4;

const [api = 0, http = 0, https = 0] = await freePorts(3);

test(
  `the server is killed at ${KILLS} random moments of orders and renewals: no key is lost, no certificate had twice, no revocation forgotten`,
  async () => {
    const product = createProduct({ api, http, https });
    const pebble = await startPebble({ httpPort: http });
    onTestFinished(async ({ task }) => {
      if (task.result?.state === 'fail')
        process.stderr.write(product.log().slice(-20_000) + pebble.log().slice(-10_000));
      await product.remove();
      await pebble.stop();
    });
    await product.start();
    let administrator: Record<string, string> = {};
    const random = seededRandom(Number(process.env.CHAOS_SEED ?? 1));

    /** Asks until the server is back. */
    const ask = <T>(method: string, path: string, body?: object): Promise<T> =>
      until(
        `${method} ${path}`,
        async () => {
          const response = await fetch(`${product.api}${path}`, {
            method,
            headers: { ...administrator, ...(body && { 'content-type': 'application/json' }) },
            ...(body && { body: JSON.stringify(body) }),
          }).catch(() => undefined);
          if (!response || response.status >= 500) return undefined;
          const text = await response.text();
          if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
          return JSON.parse(text) as T;
        },
        SOON_MS,
      );
    const credentials = { email: 'ada@example.com', password: 'correct horse battery' };
    const { token } = await ask<SignedIn>('POST', '/setup', credentials);
    administrator = { authorization: `Bearer ${token}` };
    for (const setting of pebble.settings) await ask('POST', '/settings', setting);
    // A session ends with the server; the rest may be done from this machine.
    administrator = {};
    await ask('POST', '/acme/accounts', {
      name: 'Pebble',
      directory_url: pebble.directoryUrl,
      ca_certificate: pebble.ca,
      terms_agreed: true,
    });

    const issuedByPebble = (): number => pebble.log().split('Issued certificate serial').length - 1;
    const isDone = ({ status, applied, steps, next_attempt_at }: Certificate) =>
      status === 'valid' &&
      applied &&
      Date.parse(next_attempt_at ?? '') > Date.now() &&
      steps.every((step) => step.status === 'done');

    for (let kill = 0; kill < KILLS; kill += 1) {
      // Another supervisor has seen no kill. Nothing is under way: all that was ordered is there.
      if (kill > 0 && kill % KILLS_A_SUPERVISOR === 0) {
        expect(await product.stop('SIGTERM')).toBe(0);
        await product.start();
      }
      const name = `kill${kill >> 1}.example.test`;
      const isRenewal = kill % 2 === 1;
      const { certificate } = isRenewal
        ? await ask<{ certificate: Certificate }>('POST', `/certificates/${(kill >> 1) + 1}/renew`)
        : await ask<{ certificate: Certificate }>('POST', '/certificates/order', { names: [name] });
      await delay(random() * ORDER_MS);
      const before = product.pids().server;
      product.kill('server');
      await until('another server runs', () => ![0, before].includes(product.pids().server), SOON_MS);
      await until(
        `it is had at kill ${kill}`,
        async () => {
          const now = await ask<Certificate>('GET', `/certificates/${certificate.id}`);
          const failed = now.steps.find((step) => step.status === 'failed');
          if (failed) throw new Error(`kill ${kill}: ${failed.name}: ${failed.message}`);
          return isDone(now) && issuedByPebble() === kill + 1 ? now : undefined;
        },
        SOON_MS,
      );
      // TLS stands with it: its key is there.
      await until(
        `kill ${kill}: ${name} is served`,
        async () => (await servedCertificate(https, name)).subjectAltName === `DNS:${name}`,
        SOON_MS,
      );
    }
    expect(issuedByPebble()).toBe(KILLS);

    if (KILLS + 2 > KILLS_A_SUPERVISOR) {
      expect(await product.stop('SIGTERM')).toBe(0);
      await product.start();
    }
    const store = openDatabase({ dataDir: product.dataDir, databaseUrl: undefined });
    onTestFinished(() => store.stop());
    const servedSerial = async () => (await servedCertificate(https, 'kill0.example.test')).serialNumber;
    /** Has the first certificate revoked while the server is killed; returns how many are known as revoked. */
    const revokeAndKill = async (killWhenNoted: (isRevoked: () => Promise<boolean>) => Promise<void>) => {
      const serial = await servedSerial();
      const isRevoked = async () => (await pebble.statusOf(serial)) === 'Revoked';
      pebble.hang();
      const answer = fetch(`${product.api}/certificates/1/revoke`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"reason":"key_compromise"}',
      }).catch(() => undefined);
      const noted = () => store.kysely.selectFrom('revocations').select('fingerprint').execute();
      await until('it is noted', async () => (await noted()).length === 1, SOON_MS);
      await killWhenNoted(isRevoked);
      await answer;
      await until('the authority has revoked it', isRevoked, SOON_MS);
      // Another one, with another key, is had and served.
      await until(
        'another one is served',
        async () => (await servedSerial()) !== serial && (await noted()).length === 0,
        SOON_MS,
      );
      const told = await store.kysely.selectFrom('revoked_certificates').select('fingerprint').execute();
      return told.length;
    };
    // Noted, and the authority was not heard of.
    expect(
      await revokeAndKill(async () => {
        const before = product.pids().server;
        product.kill('server');
        await until('another server runs', () => ![0, before].includes(product.pids().server), SOON_MS);
        pebble.goOn();
      }),
    ).toBe(1);
    // The authority has revoked it, and that can not be noted.
    expect(
      await revokeAndKill(async (isRevoked) => {
        const holder = new DatabaseSync(join(product.dataDir, 'sallyport.db'));
        holder.exec('begin immediate');
        pebble.goOn();
        await until('the authority has revoked it', isRevoked, SOON_MS);
        product.kill('server');
        holder.close();
      }),
    ).toBe(2);
  },
  600_000 + KILLS * 30_000,
);
