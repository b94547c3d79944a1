import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { BlockSummary } from '@sallyport/contract';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApiCaller } from '../support/call-api.ts';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product } from '../support/product.ts';
import { type Postgres, startPostgres } from '../support/start-postgres.ts';

const administrator = { email: 'admin@example.com', password: 'correct horse battery' };

describe.each(['SQLite', 'PostgreSQL'])('refusals, kept in %s,', (store) => {
  let postgres: Postgres | undefined;
  let product: Product;
  let origin: Server;

  const { call } = createApiCaller(() => product.api);
  const post = (path: string, body: object) => call<{ token: string }>('POST', path, body);

  beforeAll(async () => {
    origin = createServer((_request, response) => response.end('hello'));
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
    const [api = 0, http = 0, https = 0] = await freePorts(3);
    if (store === 'PostgreSQL') postgres = await startPostgres();
    product = createProduct({ api, http, https }, postgres?.url);
    await product.start();
    const { port } = origin.address() as AddressInfo;
    await post('/setup', administrator);
    await post('/proxy-hosts', { domain: 'probed.test', forward_host: '127.0.0.1', forward_port: port });
  });
  afterAll(async () => {
    await product.remove();
    await postgres?.stop();
    origin.close();
  });

  /** A refused request; resolves to its reference. */
  const probe = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const headers = { host: 'probed.test' };
      request({ host: '127.0.0.1', port: product.ports.http, path: '/.env', headers, agent: false }, (response) => {
        expect(response.statusCode).toBe(403);
        response.resume().once('end', () => resolve(String(response.headers['x-sallyport-reference'])));
      })
        .once('error', reject)
        .end();
    });
  const probes = async (count: number): Promise<string[]> => {
    const references = [];
    for (let index = 0; index < count; index++) references.push(await probe());
    return references;
  };

  const kept = async (): Promise<string[]> => {
    // Sessions end with the server.
    const { token } = await post('/auth/login', administrator);
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${product.api}/security/blocks?per_page=1000`, { headers });
    return ((await response.json()) as { blocks: BlockSummary[] }).blocks.map(({ reference }) => reference);
  };
  const keptOnceServing = (): Promise<string[]> => kept().catch(() => []);

  /** What another node on the same store keeps meanwhile; its reference. */
  const keepElsewhere = async (url: string): Promise<string> => {
    const reference = 'ffffffff-0000-4000-8000-000000000001';
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      `insert into security_blocks (reference, layer, host, ip, entry)
        select $1, layer, host, ip, (entry::jsonb || $2::jsonb)::text from security_blocks limit 1`,
      [reference, JSON.stringify({ reference, timestamp: '2099-01-01T00:00:00.000Z' })],
    );
    await client.end();
    return reference;
  };

  test('that were told to a server which died before it read them are kept all the same, each once', async () => {
    const before = await probes(3);
    await expect.poll(keptOnceServing).toHaveLength(3);
    const { server } = product.pids();
    // It takes in nothing any more, but its sockets do.
    process.kill(server, 'SIGSTOP');
    const meanwhile = await probes(20);
    const elsewhere = postgres ? [await keepElsewhere(postgres.url)] : [];
    process.kill(server, 'SIGKILL');
    const afterwards = await probes(5);
    const all = [...before, ...meanwhile, ...elsewhere, ...afterwards].toSorted();
    await expect.poll(async () => (await keptOnceServing()).toSorted()).toEqual(all);
  });
});
