import { setTimeout as delay } from 'node:timers/promises';
import { askLocal, type LocalAnswer } from '../../../net/local-api.ts';
import { USER_AGENT } from './lapi.ts';

const ANSWER_MS = 20_000;
/** As many a call; five thousand take it 0.2 s. */
const ALERTS_A_CALL = 2_000;
const ATTEMPTS = 6;
const PAUSE_MS = 50;
/** A ban without an end, in its terms; it takes no days. */
const ENDLESS_S = 10 * 365 * 86_400;

/** A decision that the local API is to make. */
export interface WantedDecision {
  /** Canonical address or CIDR range. */
  ip: string;
  origin: string;
  scenario: string;
  /** Milliseconds that it lasts from now on; null: without an end. */
  leftMs: number | null;
}

/** Who we are to the local API: a machine, which may write. */
export interface Credentials {
  machine_id: string;
  password: string;
}

const alertOf = ({ ip, origin, scenario, leftMs }: WantedDecision, now: string): object => {
  const scope = ip.includes('/') ? 'Range' : 'Ip';
  const seconds = leftMs === null ? ENDLESS_S : Math.max(1, Math.round(leftMs / 1_000));
  return {
    scenario,
    scenario_hash: '',
    scenario_version: '',
    message: scenario,
    events_count: 1,
    start_at: now,
    stop_at: now,
    capacity: 0,
    leakspeed: '0',
    simulated: false,
    events: [],
    source: { scope, value: ip },
    decisions: [{ duration: `${seconds}s`, origin, scenario, scope, type: 'ban', value: ip }],
  };
};

/** Makes and ends decisions at the local API. All throw an `Error` that says why they can't, as when its database is busy. */
export const createLapiWriter = (port: number, credentials: () => Credentials) => {
  let token: string | undefined;

  const login = async (): Promise<string> => {
    const headers = { 'user-agent': USER_AGENT };
    const path = '/v1/watchers/login';
    const answer = await askLocal({ port, method: 'POST', path, headers, body: credentials(), timeoutMs: ANSWER_MS });
    const { token: told } = (answer.body ?? {}) as { token?: unknown };
    if (answer.status !== 200 || typeof told !== 'string') {
      throw new Error(`the local API of CrowdSec answers ${answer.status} to our name and password`);
    }
    return told;
  };

  const ask = async (method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<LocalAnswer> => {
    const once = async (): Promise<LocalAnswer> => {
      token ??= await login();
      const headers = { 'user-agent': USER_AGENT, authorization: `Bearer ${token}` };
      return askLocal({ port, method, path, headers, body, timeoutMs: ANSWER_MS });
    };
    const first = await once();
    // A token ends after an hour, and with the process.
    if (first.status !== 401) return first;
    token = undefined;
    return once();
  };

  /** Writers of its database that meet make it answer 500 ("database is locked"): who asks again is served. */
  const settled = async (method: 'POST' | 'DELETE', path: string, wanted: number, body?: unknown): Promise<void> => {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await ask(method, path, body);
      if (answer.status === wanted || (method === 'DELETE' && answer.status === 404)) return;
      if (answer.status !== 500 || attempt === ATTEMPTS) {
        const { message } = (answer.body ?? {}) as { message?: unknown };
        throw new Error(`the local API of CrowdSec answers ${answer.status} to ${method} ${path}: ${message}`);
      }
      await delay(PAUSE_MS * attempt);
    }
  };

  return {
    async add(decisions: readonly WantedDecision[], now: string): Promise<void> {
      for (let from = 0; from < decisions.length; from += ALERTS_A_CALL) {
        const alerts = decisions.slice(from, from + ALERTS_A_CALL).map((decision) => alertOf(decision, now));
        await settled('POST', '/v1/alerts', 201, alerts);
      }
    },

    /** One that is not there any more is no error. */
    async remove(id: number): Promise<void> {
      await settled('DELETE', `/v1/decisions/${id}`, 200);
    },
  };
};
export type LapiWriter = ReturnType<typeof createLapiWriter>;
