import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { readProcess } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../support/free-ports.ts';
import { createProduct, type Product, type Victim } from '../support/product.ts';
import { type Postgres, startPostgres } from '../support/start-postgres.ts';
import { until } from '../support/until.ts';
import { createChanger } from './changes.ts';
import { createLedger } from './ledger.ts';
import { watchListeners } from './listening.ts';
import { startOrigin } from './origin.ts';
import { seededRandom, shuffled } from './seeded-random.ts';
import { constantTraffic, type Exchange, request } from './traffic.ts';

const [api = 0, http = 0, https = 0, a = 0, b = 0] = await freePorts(5);
const ports = { api, http, https };
const originPorts = { a, b };
const domains = Array.from({ length: 12 }, (_, index) => `host${index}.chaos.test`);

/** CHAOS_SEED=7 makes all attacks in one order, on both stores. */
const seeds = process.env.CHAOS_SEED ? [Number(process.env.CHAOS_SEED)] : [1, 2];

/** An ordinary run makes so many of the attacks on PostgreSQL, which dies as well, and all of them on SQLite. */
const ATTACKS_ON_POSTGRES = 4;

const attacks: readonly (readonly Victim[])[] = [
  ['supervisor'],
  ['haproxy master'],
  ['haproxy worker'],
  ['server'],
  ['guard'],
  ['supervisor', 'haproxy worker'],
  ['supervisor', 'server'],
  ['server', 'haproxy master'],
  ['supervisor', 'server', 'guard', 'haproxy master', 'haproxy worker'],
];

/** The running product with one host per domain; on SQLite unless a PostgreSQL is given. */
const givenProduct = async (seed: number, postgres?: Postgres) => {
  const random = seededRandom(seed);
  const origins = [await startOrigin('a', originPorts.a), await startOrigin('b', originPorts.b)];
  const product = createProduct(ports, postgres?.url);
  onTestFinished(async ({ task }) => {
    if (task.result?.state === 'fail') process.stderr.write(product.log().slice(-20_000));
    await product.remove();
    for (const origin of origins) await origin.stop();
  });
  await product.start();
  const ledger = createLedger();
  const changer = createChanger({ api: product.api, origins, ledger, random });
  for (const domain of domains) await changer.set(domain, 'a');
  return { product, ledger, changer, random };
};

const isHaproxy = (victim: Victim) => victim === 'haproxy master' || victim === 'haproxy worker';

/** Waits until everything that was killed is back and serves. */
const recover = async (product: Product, before: Record<Victim, number>, killed: readonly Victim[]): Promise<void> => {
  await until(
    `${killed} back`,
    async () => {
      const now = product.pids();
      const areBack = killed.every((victim) => now[victim] !== 0 && now[victim] !== before[victim]);
      if (!areBack || !Object.values(now).every((pid) => readProcess(pid))) return false;
      const health = await fetch(`${product.api}/health`).catch(() => undefined);
      const { outcome } = await request(ports.http, 'unknown.chaos.test');
      return health?.status === 200 && 'answer' in outcome;
    },
    90_000,
  );
};

const overlaps = ({ beganAt, endedAt }: Exchange, { from, to }: { from: number; to: number }) =>
  endedAt >= from && beganAt <= to;

const givenPostgres = async (): Promise<Postgres> => {
  const postgres = await startPostgres();
  onTestFinished(postgres.stop);
  return postgres;
};

/** One after the other, so that a run is as long on two stores as on one. */
const runs = seeds.map((seed, index) => ({ seed, store: index % 2 === 0 ? 'SQLite' : 'PostgreSQL' }));

test.each(process.env.CHAOS_SEED ? [...runs, ...runs.map(({ seed }) => ({ seed, store: 'PostgreSQL' }))] : runs)(
  'loses no acknowledged change and no request but those through a killed HAProxy (seed $seed, $store)',
  async ({ seed, store }) => {
    const postgres = store === 'PostgreSQL' ? await givenPostgres() : undefined;
    const { product, ledger, changer, random } = await givenProduct(seed, postgres);
    const end = new AbortController();
    const changing = [0, 1].map((half) =>
      changer.keepChanging(
        domains.filter((_, index) => index % 2 === half),
        end.signal,
      ),
    );
    const traffic = constantTraffic(ports.http, domains, 4, end.signal);
    const listening = watchListeners(Object.values(ports), end.signal);
    const outages: { from: number; to: number }[] = [];
    const kills: { killed: readonly Victim[]; at: number }[] = [];

    /** Kills these, and waits until they are back and nobody else was harmed. */
    const strike = async (killed: readonly Victim[]): Promise<void> => {
      const before = product.pids();
      const from = performance.now();
      kills.push({ killed, at: from });
      product.kill(...killed);
      if (killed.includes('supervisor')) await product.start();
      await recover(product, before, killed);
      if (killed.some(isHaproxy)) outages.push({ from, to: performance.now() });
      const unharmed = Object.fromEntries(
        Object.entries(before).filter(([name]) =>
          isHaproxy(name as Victim) ? !killed.some(isHaproxy) : !killed.includes(name as Victim),
        ),
      );
      expect(product.pids(), `after ${killed}`).toMatchObject(unharmed);
    };

    /** The store dies and comes back, and HAProxy in between; nobody but the API notices. */
    const strikeStore = async ({ kill, restart }: Postgres): Promise<void> => {
      await kill();
      const status = async () => (await fetch(`${product.api}/proxy-hosts`)).status;
      await until('the API says that the store is away', async () => (await status()) === 503);
      await strike(['haproxy worker']);
      for (const domain of domains) expect((await request(ports.http, domain)).outcome).toHaveProperty('answer');
      await restart();
      await until('the API has its store again', async () => (await status()) === 200);
    };

    if (postgres) {
      await strikeStore(postgres);
      await changer.settle();
    }
    const isShort = postgres && !process.env.CHAOS_SEED;
    const strikes = shuffled(attacks, random).slice(0, isShort ? ATTACKS_ON_POSTGRES : attacks.length);
    for (const killed of strikes) {
      await strike(killed);
      await changer.settle();
    }

    end.abort();
    await Promise.all(changing);
    const exchanges = await traffic;
    /** What to know about an exchange that went wrong, to find out why. */
    const describe = ({ domain, beganAt, endedAt, outcome }: Exchange) => {
      const last = kills.findLast(({ at }) => at <= endedAt);
      const afterMs = Math.round(beganAt - (last?.at ?? 0));
      const tookMs = Math.round(endedAt - beganAt);
      return {
        domain,
        outcome,
        acceptable: ledger.acceptable(domain, beganAt, endedAt),
        killed: last?.killed,
        afterMs,
        tookMs,
      };
    };
    const failed = exchanges.filter(
      (exchange) => 'failure' in exchange.outcome && !outages.some((outage) => overlaps(exchange, outage)),
    );
    const wrong = exchanges.filter(
      ({ domain, beganAt, endedAt, outcome }) =>
        'answer' in outcome && !ledger.acceptable(domain, beganAt, endedAt).includes(outcome.answer),
    );
    expect({ failed: failed.map(describe), wrong: wrong.map(describe) }).toEqual({ failed: [], wrong: [] });
    expect(Object.fromEntries(await listening)).toEqual({ [ports.api]: 1, [ports.http]: 1, [ports.https]: 1 });

    for (const [domain, target] of ledger.expected()) {
      expect(await request(ports.http, domain)).toMatchObject({ domain, outcome: { answer: target } });
    }
    // None of the above may hold only because nothing happened.
    expect(ledger.expected().size).toBe(domains.length);
    expect(exchanges.length).toBeGreaterThan(strikes.length * domains.length);
    expect(changer.counts().acknowledged).toBeGreaterThan(strikes.length * 2);

    expect(await product.stop('SIGTERM')).toBe(0);
    expect(product.processes()).toEqual([]);
  },
);

const openStream = async (domain: string): Promise<IncomingMessage> => {
  const sent = get({ host: '127.0.0.1', port: ports.http, path: '/stream', headers: { host: domain } });
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  onTestFinished(() => void response.destroy());
  return response;
};

test('a response in flight goes on while server and supervisor are killed and come back', async () => {
  const { product } = await givenProduct(3);
  const stream = await openStream(domains[0]!);
  const attacks: readonly (readonly Victim[])[] = [['server'], ['supervisor'], ['supervisor', 'server']];
  for (const killed of attacks) {
    const before = product.pids();
    product.kill(...killed);
    if (killed.includes('supervisor')) await product.start();
    await recover(product, before, killed);
    const [chunk] = await once(stream, 'data');
    expect(String(chunk)).toContain('a\n');
  }
});

test('HAProxy comes up with every acknowledged change while the server hangs', async () => {
  const { product, ledger, changer } = await givenProduct(4);
  await changer.set(domains[0]!, 'b');
  await changer.set(domains[1]!, undefined);
  const before = product.pids();
  process.kill(before.server, 'SIGSTOP');
  product.kill('haproxy worker');
  await until(
    'HAProxy answers again',
    async () => {
      const isNew = product.pids()['haproxy worker'] !== before['haproxy worker'];
      return isNew && 'answer' in (await request(ports.http, domains[0]!)).outcome;
    },
    90_000,
  );
  for (const [domain, target] of ledger.expected()) {
    expect(await request(ports.http, domain)).toMatchObject({ domain, outcome: { answer: target } });
  }
});

test('everything stops at Ctrl-C, also what was adopted', async () => {
  const { product } = await givenProduct(5);
  product.kill('supervisor');
  await product.start();
  const pids = Object.values(product.pids());
  expect(await product.stop('SIGINT')).toBe(0);
  expect(pids.map((pid) => readProcess(pid))).toEqual(pids.map(() => undefined));
  expect(product.processes()).toEqual([]);
});
