import { readdirSync } from 'node:fs';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Call, LockedOut } from '../support/locked-out.ts';
import { until } from '../support/until.ts';
import type { Target } from './ledger.ts';
import { startOrigin } from './origin.ts';
import { request } from './traffic.ts';

/** What the hosts of an estate answer with: an origin, `refused`, or nothing as there is no such host. */
export type Answers = Readonly<Record<string, Target>>;

interface Host {
  uuid: string;
  domain: string;
  enabled: boolean;
  applied: boolean;
}

interface Backup {
  name: string;
}

const DOMAINS = ['one', 'two', 'three', 'four', 'five', 'six'].map((name) => `${name}.cut.test`);
/** Nobody who asks here comes from there. */
const NOBODY = '192.0.2.1';
const DENIED = 'denied.cut.test';
const MOVED = 'moved.cut.test';
const ATTACKED = 'attacked.cut.test';

/** Hosts that an operator changes, and two in front of an origin that no request may ever get through to. */
export interface Estate {
  product: LockedOut['product'];
  call: Call;
  domains: readonly string[];
  /** Switches everything on, brings these hosts about, and asks from then on what must never get through. */
  prepare(answers: Answers): Promise<void>;
  /** One change of a host. Rejects unless it was acknowledged. */
  put(domain: string, target: Target): Promise<void>;
  /** Every host of the domains in one request. */
  putAll(target: string): Promise<void>;
  hosts(): Promise<Host[]>;
  /** The host that only an access list protects; `switchTo` has it without any, but switched off. */
  denied(switchTo: 'listed' | 'off'): Promise<void>;
  /** Moves a host between the origin that nobody may reach and one that everybody may, together with its access list. */
  moved(to: 'sealed' | 'open'): Promise<void>;
  /** Requests that got through to where nobody may get, since `prepare`. */
  passedSoFar(): readonly string[];
  /** Which of them it is. */
  isDeniedBy(): Promise<'listed' | 'off'>;
  backups(): Promise<string[]>;
  /** Waits until what is stored is live; resolves with what each domain is really answered with. */
  answers(): Promise<Answers>;
  /** Ends the asking. Rejects unless all that is left over is whole, and nothing got through. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** All domains with the same answer. */
export const all = ({ domains }: Pick<Estate, 'domains'>, target: Target): Answers =>
  Object.fromEntries(domains.map((domain) => [domain, target]));

/** Everything in `directory` that is neither a backup of this list nor what was noted of it. */
const leftIn = (directory: string, names: readonly string[]): string[] =>
  readdirSync(directory).filter((file) => !names.includes(file.replace(/\.note$/, '')));

/** Builds it behind the running product. */
export const createEstate = async (lockedOut: LockedOut): Promise<Estate> => {
  const { product, call } = lockedOut;
  let passed: string[] = [];
  const sealed = createServer((incoming, response) => {
    passed.push(`${incoming.headers.host}${incoming.url}`);
    response.end('passed');
  });
  await new Promise<void>((resolve) => sealed.listen(0, '127.0.0.1', resolve));
  const origins = [await startOrigin('red', 0), await startOrigin('blue', 0)];
  const sealedPort = (sealed.address() as AddressInfo).port;
  const portOf = (target: Target) => origins.find(({ name }) => name === target)?.port;

  const hosts = async (): Promise<Host[]> => {
    const all = await call<Host[]>('GET', '/proxy-hosts?per_page=100');
    return all.filter(({ domain }) => domain.endsWith('.cut.test'));
  };
  const hostOf = async (domain: string) => (await hosts()).find((host) => host.domain === domain);
  const backups = async () => (await call<Backup[]>('GET', '/backups?per_page=100')).map(({ name }) => name);

  const list = await call<{ id: number }>('POST', '/access-lists', {
    name: 'nobody',
    type: 'allow',
    rules: [{ cidr: NOBODY }],
  });
  const everybody = await call<{ id: number }>('POST', '/access-lists', { name: 'everybody', type: 'deny', rules: [] });
  for (const [domain, access_list_id] of [
    [DENIED, list.id],
    [ATTACKED, null],
    [MOVED, list.id],
  ] as const) {
    const where = { domain, forward_host: '127.0.0.1', forward_port: sealedPort };
    await call('POST', '/proxy-hosts', { ...where, access_list_id, block_exploits: false });
  }

  const put = async (domain: string, target: Target): Promise<void> => {
    const host = await hostOf(domain);
    const fields = { domain, forward_host: '127.0.0.1', forward_port: portOf(target), access_list_id: null };
    if (target === undefined) return host && call('DELETE', `/proxy-hosts/${host.uuid}`);
    await (host ? call('PUT', `/proxy-hosts/${host.uuid}`, fields) : call('POST', '/proxy-hosts', fields));
  };

  const denied: Estate['denied'] = async (switchTo) => {
    const fields =
      switchTo === 'listed' ? { enabled: true, access_list_id: list.id } : { enabled: false, access_list_id: null };
    await call('PUT', `/proxy-hosts/${(await hostOf(DENIED))?.uuid}`, fields);
  };

  const moved: Estate['moved'] = async (to) => {
    const fields =
      to === 'sealed'
        ? { forward_port: sealedPort, access_list_id: list.id }
        : { forward_port: portOf('red'), access_list_id: everybody.id };
    await call('PUT', `/proxy-hosts/${(await hostOf(MOVED))?.uuid}`, fields);
  };

  /** What a client gets who must not get through; 0 for no answer. */
  const askSealed = (host: string, path: string): Promise<number> =>
    new Promise((resolve) => {
      get({ host: '127.0.0.1', port: product.ports.http, path, headers: { host }, agent: false }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      }).on('error', () => resolve(0));
    });
  const askAll = async () => {
    // What it answers differs, and is nobody's business but the sealed origin's.
    const [denied, attacked] = await Promise.all([
      askSealed(DENIED, '/'),
      askSealed(ATTACKED, lockedOut.attack.path),
      askSealed(MOVED, '/'),
    ]);
    return [denied, attacked];
  };

  let asking = new AbortController();
  let asked: Promise<void> = Promise.resolve();
  const startAsking = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await askAll();
      await sleep(3);
    }
  };
  const stopAsking = async () => {
    asking.abort();
    await asked;
  };

  const answers = async (): Promise<Answers> => {
    await until(
      'what is stored is live',
      async () => {
        const all = await hosts().catch(() => undefined);
        return all?.every(({ applied }) => applied);
      },
      60_000,
    );
    const found: Record<string, Target> = {};
    for (const domain of DOMAINS) {
      const { answer } = await until(
        `${domain} is answered`,
        async () => {
          const { outcome } = await request(product.ports.http, domain);
          if ('answer' in outcome) return outcome;
          // 503: not everything is in force yet.
          return outcome.failure === 'status 403' && { answer: 'refused' };
        },
        60_000,
      );
      found[domain] = answer;
    }
    return found;
  };

  return {
    product,
    call,
    domains: DOMAINS,
    put,
    async putAll(target) {
      const uuids = (await hosts()).filter(({ domain }) => DOMAINS.includes(domain)).map(({ uuid }) => uuid);
      await call('POST', '/proxy-hosts/bulk', { uuids, patch: { forward_port: portOf(target) } });
    },
    hosts,
    denied,
    moved,
    passedSoFar: () => passed,
    async isDeniedBy() {
      return (await hostOf(DENIED))?.enabled ? 'listed' : 'off';
    },
    backups,
    answers,
    async prepare(wanted) {
      await stopAsking();
      await lockedOut.lock();
      for (const name of await backups()) await call('DELETE', `/backups/${name}`);
      await denied('listed');
      await moved('sealed');
      for (const domain of DOMAINS) await put(domain, wanted[domain]);
      expect(await answers()).toEqual(Object.fromEntries(DOMAINS.map((domain) => [domain, wanted[domain]])));
      await until('nobody gets through', async () => String(await askAll()) === '403,403', 60_000);
      passed = [];
      asking = new AbortController();
      asked = startAsking(asking.signal);
    },
    async check() {
      const stored = await hosts();
      const live = await answers();
      const wanted = stored.filter(({ domain }) => DOMAINS.includes(domain)).map(({ domain }) => domain);
      expect(
        Object.keys(live)
          .filter((domain) => live[domain] !== undefined)
          .sort(),
        'routed',
      ).toEqual(wanted.sort());
      const isOff = stored.find(({ domain }) => domain === DENIED)?.enabled === false;
      await until(
        'it is refused again',
        async () => String(await askAll()) === (isOff ? '404,403' : '403,403'),
        60_000,
      );
      await stopAsking();
      expect(passed, 'requests that got through to an origin that nobody may reach').toEqual([]);
      const names = await backups();
      expect(leftIn(join(product.dataDir, 'backups'), names), 'files beside the backups').toEqual([]);
      const left = readdirSync(product.dataDir).filter((name) => /^restore-|draft|\.tmp$/.test(name));
      expect(left, 'drafts in the data directory').toEqual([]);
      for (const name of names) {
        expect(await call('POST', `/backups/${name}/verify`, {}), name).toEqual({ valid: true, problems: [] });
      }
    },
    async stop() {
      await stopAsking();
      for (const origin of origins) await origin.stop();
      sealed.closeAllConnections();
      sealed.close();
    },
  };
};
