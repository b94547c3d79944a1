import { askLocal } from '../../../net/local-api.ts';

/** Exactly one slash: with none or two the local API answers 401. */
export const USER_AGENT = 'sallyport/1.0';
const HEALTH_MS = 2_000;
const STREAM_MS = 20_000;

/** One decision as the local API tells it. */
export interface LapiDecision {
  id: number;
  scope: string;
  type: string;
  value: string;
  /** As Go writes it: `3h59m58.2s`. */
  duration: string;
  scenario: string;
  origin: string;
}

export interface LapiChanges {
  deleted: LapiDecision[];
  added: LapiDecision[];
}

const isDecision = (value: unknown): value is LapiDecision => {
  const { id, scope, type, value: named, duration } = (value ?? {}) as Record<string, unknown>;
  return typeof id === 'number' && [scope, type, named, duration].every((text) => typeof text === 'string');
};

/** Of an answer that is none of its own nothing is believed: a list without decisions would end all bans. */
const decisionsIn = (value: unknown): LapiDecision[] => {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new Error('the local API of CrowdSec told no list of decisions');
  return value.filter(isDecision);
};

/** Whether something at this port says that it is up. It may be another program's: see whether ours lives as well. */
export const isUp = async (port: number): Promise<boolean> => {
  const headers = { 'user-agent': USER_AGENT };
  const answer = await askLocal({ port, path: '/health', headers, timeoutMs: HEALTH_MS, limit: 4_096 }).catch(
    () => undefined,
  );
  return answer?.status === 200 && (answer.body as { status?: unknown } | null)?.status === 'up';
};

/** The local API does not know our key: its database is not the one that it was made in. */
export class KeyRefused extends Error {}

/** Reads all decisions, or what changed since the last call with this key. Throws an `Error` that says why it can't, `KeyRefused` for one. */
export const readDecisions = async (port: number, key: string, isAll: boolean): Promise<LapiChanges> => {
  const { status, body } = await askLocal({
    port,
    path: `/v1/decisions/stream${isAll ? '?startup=true' : ''}`,
    headers: { 'user-agent': USER_AGENT, 'x-api-key': key },
    timeoutMs: STREAM_MS,
  });
  if (status === 403) throw new KeyRefused('the local API of CrowdSec does not know our key');
  if (status !== 200) throw new Error(`the local API of CrowdSec answers ${status}`);
  const { new: added, deleted } = (body ?? {}) as Record<string, unknown>;
  return { added: decisionsIn(added), deleted: decisionsIn(deleted) };
};
