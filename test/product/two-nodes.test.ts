import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { ProxyHost } from '@sallyport/contract';
import { dataPlaneFiles } from '@sallyport/haproxy';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { makeCertificate, uploadForm } from '../support/certificates.ts';
import { freePorts } from '../support/free-ports.ts';
import { ask } from '../support/http-client.ts';
import { createProduct, type Product } from '../support/product.ts';
import { type Postgres, startPostgres } from '../support/start-postgres.ts';
import { until } from '../support/until.ts';

const startOrigin = async (text: string): Promise<{ port: number; server: Server }> => {
  const server = createServer((_, response) => response.end(text));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { port: (server.address() as AddressInfo).port, server };
};

const createNode = async (databaseUrl: string): Promise<Product> => {
  const [api = 0, http = 0, https = 0] = await freePorts(3);
  return createProduct({ api, http, https }, databaseUrl);
};

const call = <T>(node: Product, method: string, path: string, body?: unknown): Promise<T> =>
  createApiCaller(() => node.api).call<T>(method, path, body);

/** What a visitor of a node gets: the status and the page, or nothing. */
const visit = (node: Product, host: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port: node.ports.http, headers: { host }, agent: false }, (response) => {
      let page = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        page += chunk;
      });
      response.on('end', () => resolve(response.statusCode === 200 ? page : String(response.statusCode)));
    });
    sent.on('error', reject);
    sent.end();
  });

/** Subject alternative names of the certificate that a node shows for a name. */
const namesShown = (node: Product, servername: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connectTls({ port: node.ports.https, host: '127.0.0.1', servername, rejectUnauthorized: false });
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subjectaltname));
      socket.destroy();
    });
    socket.once('error', reject);
  });

describe('two nodes on one PostgreSQL', () => {
  let postgres: Postgres;
  let here: Product;
  let there: Product;
  let first: Awaited<ReturnType<typeof startOrigin>>;
  let second: Awaited<ReturnType<typeof startOrigin>>;
  let host: ProxyHost;

  beforeAll(async () => {
    postgres = await startPostgres();
    first = await startOrigin('first');
    second = await startOrigin('second');
    here = await createNode(postgres.url);
    there = await createNode(postgres.url);
    await here.start();
    mkdirSync(there.dataDir, { mode: 0o700 });
    copyFileSync(join(here.dataDir, 'encryption.key'), join(there.dataDir, 'encryption.key'));
    await there.start();
    const fields = { domain: 'shared.test', forward_host: '127.0.0.1', forward_port: first.port };
    host = await call<ProxyHost>(here, 'POST', '/proxy-hosts', fields);
  });
  afterAll(async () => {
    for (const node of [here, there]) {
      await node.stop('SIGTERM');
      await node.remove();
    }
    await postgres.stop();
    first.server.close();
    second.server.close();
  });

  test('a host made on one is served by the other', async () => {
    await expect.poll(() => visit(there, 'shared.test')).toBe('first');
  });

  test('what the other changes arrives as well, whichever node it came from', async () => {
    await call(there, 'PUT', `/proxy-hosts/${host.uuid}`, { forward_port: second.port });
    expect(await visit(there, 'shared.test')).toBe('second');
    await expect.poll(() => visit(here, 'shared.test')).toBe('second');
  });

  test('a certificate is shown by both', async () => {
    await call(here, 'POST', '/certificates/upload', uploadForm('shared', makeCertificate(['shared.test'])));
    expect(await namesShown(here, 'shared.test')).toBe('DNS:shared.test');
    await expect.poll(() => namesShown(there, 'shared.test')).toBe('DNS:shared.test');
  });

  test('many changes at once arrive all', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `many-${index}.test`);
    const made = await Promise.all(
      names.map((domain, index) =>
        call<ProxyHost>(index % 2 === 0 ? here : there, 'POST', '/proxy-hosts', {
          domain,
          forward_host: '127.0.0.1',
          forward_port: first.port,
        }),
      ),
    );
    for (const node of [here, there]) {
      for (const name of names) await expect.poll(() => visit(node, name)).toBe('first');
    }
    await call(there, 'POST', '/proxy-hosts/bulk-delete', { uuids: made.map(({ uuid }) => uuid) });
    for (const name of names) await expect.poll(() => visit(here, name)).toBe('404');
  });

  test('an answer to a challenge is given by both, whatever hangs or ends beside HAProxy, and after HAProxy ended', async () => {
    const token = 'a-token_9';
    const body = `${token}.thumb-print`;
    const path = `/.well-known/acme-challenge/${token}`;
    const answered = (node: Product): Promise<string> =>
      ask({ port: node.ports.http, host: 'nobody-has.test', path }).then(
        ({ status, body: text }) => (status === 200 ? text : String(status)),
        () => 'nothing',
      );
    const untilAnswered = (what: string, node: Product, expected: string) =>
      until(what, async () => (await answered(node)) === expected, 90_000);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    // As a third node would.
    const change = async (statement: string, values: string[]): Promise<void> => {
      await client.query(statement, values);
      await client.query("select pg_notify('sallyport_routes', 'acme_challenges 0')");
    };
    try {
      const times = [new Date().toISOString(), '2999-01-01T00:00:00.000Z'];
      await change('insert into acme_challenges values ($1, $2, $3, $4)', [token, body, ...times]);
      for (const node of [here, there]) await untilAnswered('a node gives it', node, body);

      const { supervisor, server, guard } = there.pids();
      for (const pid of [supervisor, server, guard]) process.kill(pid, 'SIGSTOP');
      expect(await answered(there)).toBe(body);
      for (const pid of [supervisor, guard]) process.kill(pid, 'SIGCONT');
      // The server still hangs. What HAProxy starts with comes from the store, not from what was left.
      rmSync(join(there.dataDir, 'haproxy', dataPlaneFiles.challengesMap));
      there.kill('haproxy worker');
      await untilAnswered('a HAProxy that was started anew gives it', there, body);
      // Unless the supervisor was faster.
      if (there.processes().includes(server)) process.kill(server, 'SIGKILL');
      expect(await answered(there)).toBe(body);

      await until('there is a server again', () => ![0, server].includes(there.pids().server), 90_000);
      await change('delete from acme_challenges where token = $1', [token]);
      for (const node of [here, there]) await untilAnswered('a node gives it no more', node, '404');
    } finally {
      await client.end();
    }
  });

  test('after PostgreSQL was away the nodes hear of each other again', async () => {
    await postgres.kill();
    expect(await visit(there, 'shared.test')).toBe('second');
    await postgres.restart();
    await expect
      .poll(() => call(here, 'DELETE', `/proxy-hosts/${host.uuid}`).then(() => 'deleted', String))
      .toBe('deleted');
    await expect.poll(() => visit(there, 'shared.test')).toBe('404');
  });
});
