import { rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { spoolDirectory } from '@sallyport/deployment/places';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenConfig, SMALL_RULES } from '../support/guard/config.ts';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { ask } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** What two relays grant one client. */
const SHARE = 2 * 512;

const form = (bytes: number, end = ''): string => `pad=${'x'.repeat(bytes - 4 - end.length)}${end}`;

describe('slow clients', () => {
  let guarded: Guarded;
  let origin: TestOrigin;
  const sockets: Socket[] = [];

  beforeAll(async () => {
    origin = await startOrigin();
    guarded = await startGuarded({ trustedProxies: ['127.0.0.1/32'], maxConnections: 4_000 });
    await guarded.serve({ origin: { port: origin.port } as never });
  });
  afterAll(async () => {
    for (const socket of sockets) socket.destroy();
    await guarded.stop();
    await origin.stop();
  });

  /** Begins an upload that goes no further; the answer appears in `texts`. */
  const stall = (client: string, texts: string[]): void => {
    const at = texts.push('') - 1;
    const socket = connect(guarded.httpPort, '127.0.0.1', () =>
      socket.write(
        `POST / HTTP/1.1\r\nHost: guarded.test\r\nX-Forwarded-For: ${client}\r\nContent-Length: 1000000\r\n\r\npad=`,
      ),
    );
    socket.setEncoding('latin1').on('data', (text: string) => {
      texts[at] += text;
    });
    socket.on('error', () => socket.destroy());
    sockets.push(socket);
  };
  const upload = (client: string, bytes: number, end = '') =>
    ask({ port: guarded.httpPort, body: form(bytes, end), headers: { ...FORM, 'x-forwarded-for': client } });

  /** Requests that HAProxy has handed to the relays. */
  const inRelays = async (): Promise<number> => {
    const rows = (await guarded.command('show stat')).split('\n').map((line) => line.split(','));
    return rows
      .filter(([proxy, server]) => proxy === 'relay' && server?.startsWith('relay-'))
      .reduce((sum, row) => sum + Number(row[4]), 0);
  };

  test('however many uploads stand still, others pass; one client has its share, and its slowest give way', async () => {
    const [several, one]: string[][] = [[], []];
    for (let i = 0; i < 600; i++) stall(`198.51.100.${i % 200}`, several ?? []);
    await expect.poll(inRelays).toBe(600);
    expect((await upload('203.0.113.1', 3_000_000)).status).toBe(200);
    expect((await upload('203.0.113.1', 300_000, '&q=attack')).status).toBe(403);

    for (let i = 0; i < SHARE + 50; i++) stall('192.0.2.9', one ?? []);
    await expect.poll(() => one?.filter((text) => text !== '').length).toBeGreaterThanOrEqual(50);
    const answers = (one ?? []).filter((text) => text !== '');
    expect(answers.filter((text) => !text.startsWith('HTTP/1.1 408 '))).toEqual([]);
    expect(answers[0]).toContain('This request came in too slowly.');
    expect(answers[0]).toMatch(/x-sallyport-reference: [0-9a-f-]{36}/i);
    expect(several?.filter((text) => text !== '')).toEqual([]);
    // Also this client goes on, and so does everybody else.
    expect((await upload('192.0.2.9', 300_000)).status).toBe(200);
    expect((await upload('203.0.113.1', 3_000_000)).status).toBe(200);
    await expect.poll(() => guarded.haproxyOutput()).toContain('"status":408');
    for (const socket of sockets.splice(0)) socket.destroy();
    await expect.poll(inRelays).toBe(0);
  });

  test('without a disk, bodies are judged from memory, and what has no room is told so', async () => {
    rmSync(spoolDirectory(guarded.dataDir), { recursive: true });
    expect((await upload('203.0.113.2', 500_000)).status).toBe(200);
    expect((await upload('203.0.113.2', 5_000_000, '&q=attack')).status).toBe(403);
    // The client holds ever more, until no relay has any left for it.
    const hold = (): void => {
      const head =
        'POST / HTTP/1.1\r\nHost: guarded.test\r\nX-Forwarded-For: 203.0.113.2\r\nContent-Length: 13000000\r\n\r\n';
      const socket = connect(guarded.httpPort, '127.0.0.1', () => socket.write(`${head}${'x'.repeat(8_000_000)}`));
      socket.on('error', () => socket.destroy());
      sockets.push(socket);
    };
    let refused = await upload('203.0.113.2', 1_000_000);
    for (let i = 0; i < 20 && refused.status === 200; i++) {
      hold();
      refused = await upload('203.0.113.2', 1_000_000);
    }
    expect(refused).toMatchObject({ status: 507 });
    expect(refused.body).toContain('There is no room for a request of this size');
    await expect.poll(() => guarded.haproxyOutput()).toContain('"status":507');
    expect((await upload('203.0.113.3', 1_000_000)).status).toBe(200);
    for (const socket of sockets.splice(0)) socket.destroy();
    // What they held is given back.
    await expect.poll(async () => (await upload('203.0.113.2', 3_000_000)).status).toBe(200);
  });
});

/** Each of these takes a while for each byte. */
const COSTLY_RULES = Array.from(
  { length: 12 },
  (_, i) => `SecRule ARGS "@rx (?:a|b|ab){${i + 2},}[cd]+e" "id:${2_000 + i},phase:2,pass,nolog"`,
).join('\n');

describe('heavy bodies', () => {
  test('hold up nobody else, and no relay goes down', async () => {
    const origin = await startOrigin();
    const guarded = await startGuarded({
      config: givenConfig(1, { rules: `${SMALL_RULES}${COSTLY_RULES}` }),
      trustedProxies: ['127.0.0.1/32'],
    });
    try {
      await guarded.serve({ origin: { port: origin.port } as never });
      const post = async (client: string, body: string): Promise<number> =>
        (await ask({ port: guarded.httpPort, body, headers: { ...FORM, 'x-forwarded-for': client } })).status;
      let done = 0;
      const heavy = Array.from({ length: 6 }, async (_, i) => {
        const status = await post('192.0.2.66', `pad${i}=${'ab'.repeat(3_250_000)}`);
        done++;
        return status;
      });
      const others: number[] = [];
      // As long as any of them is judged, everybody else is answered.
      for (let i = 0; done < heavy.length && others.length < 40; i++) {
        others.push(await post(`203.0.113.${i % 200}`, form(20_000 + (i % 3) * 200_000)));
        others.push((await ask({ port: guarded.httpPort, path: '/?q=attack' })).status);
      }
      expect(new Set(others)).toEqual(new Set([200, 403]));
      expect(new Set(await Promise.all(heavy))).toEqual(new Set([200]));
      const rows = (await guarded.command('show stat')).split('\n').map((line) => line.split(','));
      const head = rows[0] ?? [];
      const downs = rows
        .filter(([proxy, server]) => (proxy === 'relay' || proxy?.startsWith('guards_')) && server !== 'BACKEND')
        .map((row) => Number(row[head.indexOf('chkdown')]));
      // Each guard twice: it stands in for the other half.
      expect(downs).toEqual([0, 0, 0, 0, 0, 0]);
    } finally {
      await guarded.stop();
      await origin.stop();
    }
  });
});

describe('a guard that hangs', () => {
  test('is not waited for: bodies and questions go to the other, and nothing arrives twice', async () => {
    const origin = await startOrigin();
    const guarded = await startGuarded({ timeoutMs: 2_000 });
    try {
      await guarded.serve({ origin: { port: origin.port } as never });
      for (const victim of [0, 1]) {
        const before = origin.arrivals.length;
        await guarded.guards[victim]?.freeze();
        const statuses: number[] = [];
        for (let i = 0; i < 6; i++) {
          statuses.push((await ask({ port: guarded.httpPort, body: form(40_000), headers: FORM })).status);
          statuses.push((await ask({ port: guarded.httpPort })).status);
        }
        expect(statuses, guarded.haproxyOutput()).toEqual(statuses.map(() => 200));
        expect(origin.arrivals.length - before).toBe(12);
        guarded.guards[victim]?.kill('SIGCONT');
        const { requests = 0 } = (await guarded.guards[victim]?.stats()) ?? {};
        await expect
          .poll(async () => (await guarded.command('show servers state')).match(/ (relay|guard)-\d \S+ 2 /g)?.length)
          .toBe(6);
        // It has its share again at once, whatever the other one's connections have to do.
        await expect
          .poll(async () => {
            expect((await ask({ port: guarded.httpPort })).status).toBe(200);
            return (await guarded.guards[victim]?.stats())?.requests;
          })
          .toBeGreaterThan(requests);
      }
    } finally {
      for (const guard of guarded.guards) guard.kill('SIGCONT');
      await guarded.stop();
      await origin.stop();
    }
  });

  test('when all hang, a request is refused, and nothing is passed on when they go on', async () => {
    const origin = await startOrigin();
    const guarded = await startGuarded({ timeoutMs: 1_000 });
    try {
      await guarded.serve({ origin: { port: origin.port } as never });
      expect((await ask({ port: guarded.httpPort })).status).toBe(200);
      await Promise.all(guarded.guards.map((guard) => guard.freeze()));
      const answers = await Promise.all(
        [{ body: form(40_000), headers: FORM }, {}].map((parts) => ask({ port: guarded.httpPort, ...parts })),
      );
      expect(answers.map(({ status }) => status)).toEqual([503, 503]);
      for (const { body } of answers) expect(body).toContain('This request could not be checked. Please try again.');
      for (const guard of guarded.guards) guard.kill('SIGCONT');
      await expect.poll(async () => (await ask({ port: guarded.httpPort })).status).toBe(200);
      expect(origin.arrivals.map(({ method }) => method)).toEqual(['GET', 'GET']);
    } finally {
      for (const guard of guarded.guards) guard.kill('SIGCONT');
      await guarded.stop();
      await origin.stop();
    }
  });
});
