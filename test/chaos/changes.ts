import { until } from '../support/until.ts';
import type { Ledger, Target } from './ledger.ts';
import type { Origin } from './origin.ts';

interface ProxyHost {
  uuid: string;
  domain: string;
  applied: boolean;
}

export interface ChangeDeps {
  api: string;
  origins: readonly Origin[];
  ledger: Ledger;
  random(): number;
}

/** The store is away: the change may have been made all the same, like one that got no answer. */
class StoreUnavailable extends Error {}

const json = { 'content-type': 'application/json' };

/** Changes proxy hosts through the API, one after the other, and writes down what it was told. */
export const createChanger = ({ api, origins, ledger, random }: ChangeDeps) => {
  const uuids = new Map<string, string>();
  let acknowledged = 0;
  let unanswered = 0;

  const call = async (method: string, path: string, body?: object): Promise<Response> => {
    const request = body ? { method, headers: json, body: JSON.stringify(body) } : { method };
    return fetch(`${api}${path}`, { ...request, signal: AbortSignal.timeout(60_000) });
  };

  /** Throws unless the API did what it was asked for. */
  const ask = async (method: string, path: string, body?: object): Promise<Response> => {
    const response = await call(method, path, body);
    if (response.status === 503) throw new StoreUnavailable(await response.text());
    if (!response.ok) throw new Error(`${method} answered ${response.status}: ${await response.text()}`);
    return response;
  };

  const list = async (): Promise<ProxyHost[]> => (await ask('GET', '/proxy-hosts')).json() as Promise<ProxyHost[]>;

  /** A change that got no answer may have been made or not: ask, as soon as somebody answers. */
  const forgetAnswer = async (domain: string): Promise<void> => {
    const hosts = await until('the API is back', () => list().catch(() => undefined), 90_000);
    const host = hosts.find((candidate) => candidate.domain === domain);
    if (host) uuids.set(domain, host.uuid);
    else uuids.delete(domain);
  };

  const put = async (domain: string, target: Target): Promise<{ isLive: boolean }> => {
    const uuid = uuids.get(domain);
    if (target === undefined) {
      // That it is not stored does not say that HAProxy has forgotten it: a killed server may have got no further.
      if (uuid === undefined) return { isLive: false };
      await ask('DELETE', `/proxy-hosts/${uuid}`);
      uuids.delete(domain);
      // A deletion has no body that would say whether HAProxy was there to hear of it.
      return { isLive: false };
    }
    const forward_port = origins.find(({ name }) => name === target)?.port;
    const fields = { domain, forward_host: '127.0.0.1', forward_port };
    const response = await (uuid === undefined
      ? ask('POST', '/proxy-hosts', fields)
      : ask('PUT', `/proxy-hosts/${uuid}`, fields));
    const host = (await response.json()) as ProxyHost;
    uuids.set(domain, host.uuid);
    return { isLive: host.applied };
  };

  const set = async (domain: string, target: Target): Promise<void> => {
    for (;;) {
      const change = ledger.sent(domain, target, performance.now());
      try {
        const { isLive } = await put(domain, target);
        ledger.acknowledged(change, isLive, performance.now());
        acknowledged += 1;
        return;
      } catch (error) {
        // Any other answer is a refusal, and there is none to expect; no answer means that the server was killed.
        if (!(error instanceof TypeError || error instanceof StoreUnavailable)) throw error;
        unanswered += 1;
        await forgetAnswer(domain);
      }
    }
  };

  const anyTarget = (): Target => {
    const choice = Math.floor(random() * (origins.length + 1));
    return origins[choice]?.name;
  };

  return {
    set,
    /** Waits until the API says of every host that HAProxy serves it as stored. */
    async settle(): Promise<void> {
      await until(
        'every host is applied',
        async () => {
          const askedAt = performance.now();
          const hosts = await list().catch(() => undefined);
          if (!hosts?.every(({ applied }) => applied)) return false;
          ledger.settle(askedAt, performance.now());
          return true;
        },
        90_000,
      );
    },
    counts: () => ({ acknowledged, unanswered }),
    /** Goes on changing these domains at random until told to stop. */
    async keepChanging(domains: readonly string[], signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const domain = domains[Math.floor(random() * domains.length)];
        if (domain !== undefined) await set(domain, anyTarget());
      }
    },
  };
};
