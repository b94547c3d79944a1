import { mkdirSync, writeFileSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { join } from 'node:path';
import type { Container, ErrorBody } from '@sallyport/contract';
import { afterEach, describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { createGiven } from '../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../testing/start-app.ts';
import { recorded, startDocker, startSocket, type TestSocket } from '../../../testing/start-docker.ts';
import { createListContainers, networksOfThisMachine } from './list.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
const kept = async <T extends { stop(): Promise<void> }>(starting: Promise<T>): Promise<T> => {
  const started = await starting;
  stops.push(() => started.stop());
  return started;
};

const DOCKERS_NETWORKS = ['172.17.0.1/16', '172.18.0.1/16'];
const PODMANS_NETWORKS = ['10.88.0.1/16', '10.89.0.1/24'];

const listAt = (socketPath: string | undefined, ownNetworks = DOCKERS_NETWORKS) =>
  createListContainers({ socketPath, ownNetworks: () => ownNetworks });
const byName = async (socketPath: string, ownNetworks?: string[]): Promise<Record<string, Container>> =>
  Object.fromEntries((await listAt(socketPath, ownNetworks)({})).rows.map((one) => [one.name, one]));

describe('what Docker 20.10 was recorded to answer', () => {
  test('is told by name, with networks, the address that is reached, and ports where they are published', async () => {
    const { path } = await kept(startDocker(recorded('docker')));
    const { rows, total } = await listAt(path)({});
    expect(total).toBe(4);
    expect(rows.map(({ name }) => name)).toEqual(['alone', 'onhost', 'plain', 'web']);
    expect(rows[0]).toMatchObject({ networks: [{ name: 'none', address: null }], ip: null, ports: [] });
    expect(rows[1]).toMatchObject({ networks: [{ name: 'host', address: null }], ip: null, ports: [] });
    expect(rows[2]).toMatchObject({ networks: [{ name: 'bridge', address: '172.17.0.2' }], ip: '172.17.0.2' });
    expect(rows[3]).toEqual({
      id: '69202e32bfe99069f42b38335e6dc40d63ac9a0ebe1818bfe7be4c801e1f074f',
      name: 'web',
      image: 'busy:1',
      state: 'running',
      networks: [
        { name: 'bridge', address: '172.17.0.3' },
        { name: 'shop', address: '172.18.0.2' },
      ],
      ip: '172.17.0.3',
      ports: [
        {
          port: 53,
          protocol: 'udp',
          published: [
            { ip: '0.0.0.0', port: 18_053 },
            { ip: '::', port: 18_053 },
          ],
        },
        {
          port: 80,
          protocol: 'tcp',
          published: [
            { ip: '0.0.0.0', port: 18_080 },
            { ip: '::', port: 18_080 },
          ],
        },
        { port: 443, protocol: 'tcp', published: [{ ip: '127.0.0.1', port: 18_443 }] },
        { port: 9_000, protocol: 'tcp', published: [] },
      ],
    });
  });

  test('has an address only where this machine has a part in the network', async () => {
    const { path } = await kept(startDocker(recorded('docker')));
    expect((await byName(path, ['172.18.0.1/16'])).web?.ip).toBe('172.18.0.2');
    expect((await byName(path, ['192.0.2.1/24'])).web?.ip).toBeNull();
  });

  test('is asked for once by who ask at the same time, and by nobody before', async () => {
    // Connections alone say too little: there is nothing to answer before the request is read.
    const asked: (() => void)[] = [];
    const socket = await kept(startDocker((_request, response) => void asked.push(() => response.end('[]'))));
    const list = listAt(socket.path);
    expect(socket.accepted()).toBe(0);
    const both = [list({}), list({})];
    await expect.poll(() => asked.length).toBe(1);
    asked[0]?.();
    expect(await Promise.all(both)).toMatchObject([{ total: 0 }, { total: 0 }]);
    expect(socket.accepted()).toBe(1);
    const later = list({});
    await expect.poll(() => asked.length).toBe(2);
    asked[1]?.();
    await later;
  });
});

test('what Podman 4.3 was recorded to answer means the same', async () => {
  const { path } = await kept(startDocker(recorded('podman')));
  const { web, alone, plain } = await byName(path, PODMANS_NETWORKS);
  expect(alone).toMatchObject({ networks: [], ip: null, ports: [] });
  expect(plain).toMatchObject({ networks: [{ name: 'podman', address: '10.88.0.5' }], ip: '10.88.0.5' });
  expect(web).toMatchObject({
    image: 'localhost/busy:1',
    ip: '10.89.0.5',
    ports: [
      { port: 53, protocol: 'udp', published: [{ ip: '0.0.0.0', port: 28_053 }] },
      { port: 80, protocol: 'tcp', published: [{ ip: '0.0.0.0', port: 28_080 }] },
      { port: 443, protocol: 'tcp', published: [{ ip: '127.0.0.1', port: 28_443 }] },
    ],
  });
});

test('an address of IPv6 alone is one, and what is no address is none', async () => {
  const Networks = { v6: { IPAddress: '', GlobalIPv6Address: 'fd00::2' }, odd: { IPAddress: '<script>' }, gone: null };
  const one = { Id: 'f'.repeat(64), Names: null, Image: 'i', State: 'running', NetworkSettings: { Networks } };
  const socket = await kept(startDocker((_request, response) => response.end(JSON.stringify([one]))));
  const { rows } = await listAt(socket.path, ['fd00::1/64'])({});
  expect(rows[0]).toMatchObject({ name: 'f'.repeat(12), ip: 'fd00::2', ports: [] });
  expect(rows[0]?.networks).toEqual([
    { name: 'gone', address: null },
    { name: 'odd', address: null },
    { name: 'v6', address: 'fd00::2' },
  ]);
});

test('the networks of this machine are those of its interfaces, but for what never leaves it', () => {
  const address = (cidr: string | null, internal = false) => ({ cidr, internal }) as NetworkInterfaceInfo;
  const interfaces = {
    lo: [address('127.0.0.1/8', true)],
    docker0: [address('172.17.0.1/16'), address('fe80::1/64')],
    odd: [address(null)],
    none: undefined,
  };
  expect(networksOfThisMachine(interfaces)).toEqual(['172.17.0.1/16', 'fe80::1/64']);
  for (const network of networksOfThisMachine()) expect(network).not.toMatch(/^(127\.|::1)/);
});

test('containers and what they have stand in one order, and are found by what they are called', async () => {
  const one = (Id: string, name: string, more: object = {}) => ({
    Id,
    Names: [`/${name}`],
    Image: 'i',
    State: 'running',
    ...more,
  });
  const port = (PrivatePort: number, Type: string, more: object = {}) => ({ PrivatePort, Type, ...more });
  const Networks = { b: {}, c: { IPAddress: '10.0.0.2' }, a: { IPAddress: '10.0.0.3' } };
  const all = [
    one('id-3', 'b', { Image: 'z', State: 'paused' }),
    one('id-1', 'd', { Image: 'y' }),
    one('id-2', 'a', {
      Ports: [port(80, 'udp'), port(0, 'tcp', { PublicPort: 9 }), port(443, 'tcp'), port(80, 'tcp', { PublicPort: 0 })],
      NetworkSettings: { Networks },
    }),
    one('id-4', 'c'),
    { ...one('long-id-of-no-name', ''), Names: [] },
  ];
  const { path } = await kept(startDocker((_request, response) => response.end(JSON.stringify(all))));
  const list = listAt(path, ['10.0.0.1/24']);
  const names = async (query: Parameters<typeof list>[0]) => (await list(query)).rows.map(({ name }) => name);
  expect(await names({})).toEqual(['a', 'b', 'c', 'd', 'long-id-of-n']);
  expect((await names({ sort: 'image', order: 'desc' })).slice(0, 2)).toEqual(['b', 'd']);
  expect((await names({ sort: 'state' }))[0]).toBe('b');
  for (const [search, name] of [
    ['Z', 'b'],
    ['ID-4', 'c'],
    ['LONG', 'long-id-of-n'],
  ] as const) {
    expect(await names({ search })).toEqual([name]);
  }
  const { rows, total } = await list({ page: 1, per_page: 1 });
  expect([total, rows]).toMatchObject([5, [{ id: 'id-2', ip: '10.0.0.3' }]]);
  expect(rows[0]?.networks.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  expect(rows[0]?.ports).toEqual([
    { port: 80, protocol: 'tcp', published: [] },
    { port: 80, protocol: 'udp', published: [] },
    { port: 443, protocol: 'tcp', published: [] },
  ]);
});

test('what is not as Docker tells it is no list, wherever it is wrong', async () => {
  const right = { Id: '1', Image: 'i', State: 'running' };
  const port = { PrivatePort: 80, Type: 'tcp' };
  let answer: unknown[] = [];
  const { path } = await kept(startDocker((_request, response) => response.end(JSON.stringify(answer))));
  const outcome = async (one: object) => {
    answer = [right, one];
    return listAt(path)({}).then(
      ({ total }) => total,
      ({ status, message }: { status: number; message: string }) => `${status} ${message}`,
    );
  };
  const endpoint = (of: unknown) => ({ ...right, NetworkSettings: { Networks: { a: of } } });
  for (const [wrong, where] of [
    [{ ...right, Id: undefined }, 'Id'],
    [{ ...right, Id: 1 }, 'Id'],
    [{ ...right, Id: 'i'.repeat(4_097) }, 'Id'],
    [{ ...right, Image: undefined }, 'Image'],
    [{ ...right, State: null }, 'State'],
    [{ ...right, Names: 'web' }, 'Names'],
    [{ ...right, Names: [1] }, 'Names'],
    [{ ...right, Names: Array(101).fill('n') }, 'Names'],
    [{ ...right, Ports: {} }, 'Ports'],
    [{ ...right, Ports: [{ ...port, PrivatePort: -1 }] }, 'Ports'],
    [{ ...right, Ports: [{ ...port, PrivatePort: 65_536 }] }, 'Ports'],
    [{ ...right, Ports: [{ ...port, PrivatePort: undefined }] }, 'Ports'],
    [{ ...right, Ports: [{ ...port, PublicPort: '80' }] }, 'Ports'],
    [{ ...right, Ports: [{ ...port, Type: undefined }] }, 'Ports'],
    [{ ...right, Ports: [{ ...port, IP: 1 }] }, 'Ports'],
    [{ ...right, NetworkSettings: 'none' }, 'NetworkSettings'],
    [{ ...right, NetworkSettings: { Networks: [] } }, 'NetworkSettings'],
    [endpoint('10.0.0.2'), 'NetworkSettings'],
    [endpoint({ IPAddress: 1 }), 'NetworkSettings'],
    [endpoint({ GlobalIPv6Address: 'x'.repeat(4_097) }), 'NetworkSettings'],
  ] as const) {
    const told = await outcome(wrong);
    expect(told, JSON.stringify(wrong).slice(0, 80)).toMatch(/^503 .*does not answer as Docker does \(the list\[1\]/);
    expect(told).toContain(where);
  }
  const much = { ...right, Id: 'i'.repeat(4_096), Names: Array(100).fill('n'), Ports: null, NetworkSettings: null };
  for (const one of [much, endpoint(null), { ...right, NetworkSettings: { Networks: null }, Ports: [port] }]) {
    expect(await outcome(one)).toBe(2);
  }
});

describe('a socket that gives no list is a 503 that says so', () => {
  const refusalOf = async (socketPath: string | undefined) =>
    listAt(socketPath)({}).then(
      () => 'no refusal',
      (error: { status: number; message: string }) => `${error.status} ${error.message}`,
    );
  const refusalWhere = async (starting: Promise<TestSocket>): Promise<string> => {
    const socket = await kept(starting);
    const refusal = (await refusalOf(socket.path)).replaceAll(socket.path, 'SOCKET');
    // Nothing that was asked stays behind.
    await expect.poll(socket.open).toBe(0);
    return refusal;
  };
  const UNLIKE_DOCKER = /^503 What listens at SOCKET does not answer as Docker does \(.+\): ask its service, or name /;

  test('none, a file, a directory, nobody behind it, switched off', async () => {
    expect(await refusalOf(undefined)).toBe('503 Containers are not listed: SALLYPORT_DOCKER_SOCKET is off');
    await withTemporaryDirectory(async (directory) => {
      const at = (name: string) => join(directory, name);
      expect(await refusalOf(at('none'))).toBe(
        `503 There is no Docker socket at ${at('none')}: start Docker or Podman, or name another one in SALLYPORT_DOCKER_SOCKET`,
      );
      writeFileSync(at('file'), '');
      mkdirSync(at('directory'));
      expect(await refusalOf(at('file'))).toContain('503 Nobody listens at');
      expect(await refusalOf(at('directory'))).toContain('503 Nobody listens at');
      expect(await refusalOf(at('file/in-it'))).toContain('503 There is no Docker socket at');
    });
  });

  test('a filter that refuses', async () => {
    expect(await refusalWhere(startDocker((_request, response) => response.writeHead(403).end('Forbidden')))).toBe(
      '503 Docker answered 403 at SOCKET: a filter before it has to let GET /containers/json through',
    );
  });

  test.each([
    ['no HTTP', '\u0000\u0001garbage\r\n\r\n'],
    ['nothing', ''],
    ['no JSON', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n[1,2,'],
    ['no list', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'],
    ['half an answer', 'HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n[{"Id":"1"'],
    ['containers without names', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n[{}]'],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: tcp\r\n\r\n'],
    ['headers without end', `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(100_000)}`],
  ])('%s', async (_what, said) => {
    expect(
      await refusalWhere(
        startSocket((connection) => {
          connection.once('data', () => connection.end(said));
        }),
      ),
    ).toMatch(UNLIKE_DOCKER);
  });

  test('more than 8 MiB', async () => {
    const endless = startDocker((_request, response) => {
      const write = (): void => {
        while (response.write(' '.repeat(65_536)));
      };
      response.on('drain', write);
      write();
    });
    expect(await refusalWhere(endless)).toMatch(/^503 .*the answer has more than 8388608 bytes/);
  });

  test('more than 5,000 containers', async () => {
    const one = { Id: '1', Image: 'i', State: 'running' };
    const many = (count: number) =>
      startDocker((_request, response) => response.end(JSON.stringify(Array.from({ length: count }, () => one))));
    expect(await refusalWhere(many(5_001))).toMatch(/^503 .*has more than 5000 entries/);
    expect((await listAt((await kept(many(5_000))).path)({})).total).toBe(5_000);
  });

  test('silence, and an answer that never ends', async () => {
    const beginning = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n[\r\n';
    const waiting = /^503 Docker did not answer at SOCKET within 5 seconds/;
    const refusals = await Promise.all([
      refusalWhere(startSocket(() => {})),
      refusalWhere(
        startSocket((connection) => {
          connection.write(beginning);
          const more = setInterval(() => connection.write('1\r\n \r\n'), 100);
          connection.once('close', () => clearInterval(more));
        }),
      ),
    ]);
    for (const refusal of refusals) expect(refusal).toMatch(waiting);
  });
});

describe('GET /containers', () => {
  const appAt = async (env: Record<string, string>): Promise<TestApp> => kept(startApp('sqlite', env));

  test('is a list like any other, for administrators', async () => {
    const { path, accepted } = await kept(startDocker(recorded('docker')));
    const app = await appAt({ SALLYPORT_DOCKER_SOCKET: path });
    const given = createGiven(app);
    const { headers } = await given.administrator();
    const { headers: standard } = await given.caller();
    expect(await app.send('GET', '/containers')).toMatchObject({ status: 403 });
    expect(await app.send('GET', '/containers', undefined, standard)).toMatchObject({ status: 403 });
    expect(accepted()).toBe(0);

    const read = (query: string) => app.send<Container[]>('GET', `/containers${query}`, undefined, headers);
    const all = await read('');
    expect(all.body.map(({ name }) => name)).toEqual(['alone', 'onhost', 'plain', 'web']);
    expect(all.headers.get('x-total-count')).toBe('4');
    const second = await read('?page=2&per_page=3&sort=name&order=desc');
    expect(second.body.map(({ name }) => name)).toEqual(['alone']);
    expect(second.headers.get('link')).toContain('rel="prev"');
    expect((await read('?search=WEB')).body).toMatchObject([{ name: 'web' }]);
    expect((await read('?sort=ip')).status).toBe(400);
  });

  test('is 503 where there is nobody to ask', async () => {
    const app = await appAt({ SALLYPORT_DOCKER_SOCKET: '/nonexistent/docker.sock' });
    const { headers } = await createGiven(app).administrator();
    const { status, body } = await app.send<ErrorBody>('GET', '/containers', undefined, headers);
    expect({ status, body }).toEqual({
      status: 503,
      body: {
        error:
          'There is no Docker socket at /nonexistent/docker.sock: start Docker or Podman, or name another one in SALLYPORT_DOCKER_SOCKET',
        code: 503,
      },
    });
  });
});
