import { randomUUID } from 'node:crypto';
import type { RecordChanges } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { answerContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Answer, BeginRequest } from './answer.ts';
import type { IdempotencyStore } from './store.ts';

export interface IdempotencyDeps {
  db: Executor;
  store: (executor: Executor) => IdempotencyStore;
  vault: Vault;
  clock: () => Date;
}

interface Sealed {
  fingerprint: string;
  answer?: Answer;
}

const KEPT_MS = 24 * 3_600_000;
/** Longer than any request takes: a process that did not answer by then is gone. */
const LEASE_MS = 150_000;

const otherRequest = () =>
  refuse.unprocessable('Idempotency-Key was used for another request within the last 24 hours');
const stillAnswering = () =>
  refuse.conflict('A request with this Idempotency-Key is still being answered', { headers: { 'retry-after': '5' } });
const answerLost = (resource: string) =>
  refuse.conflict('What this Idempotency-Key stands for was made, but its answer got lost: see Location', {
    headers: { location: `/api/v1/${resource}` },
  });

/**
 * Makes a creating request happen once however often it is sent: by this process, another node, or after a crash. What
 * is made is noted by the transaction that makes it, so that nobody has to guess whether a request that was cut off did it.
 */
export const createIdempotency = ({ db, store, vault, clock }: IdempotencyDeps) => {
  const owner = randomUUID();
  /** Requests that this process is answering. */
  const open = new Map<string, { fingerprint: string; ended: Promise<void> }>();

  const seal = (id: string, content: Sealed) => vault.seal(JSON.stringify(content), answerContext(id));

  /** The answer to give again, or undefined when this process is to make one. */
  const claim = async (id: string, fingerprint: string): Promise<Answer | undefined> => {
    const now = clock();
    await store(db).forgetBefore(new Date(now.getTime() - KEPT_MS).toISOString());
    const created_at = now.toISOString();
    const answer_sealed = seal(id, { fingerprint });
    const row = { id, owner, resource: null, answered: 0, answer_sealed, created_at };
    if (await store(db).insert(row)) return undefined;
    const known = await store(db).find(id);
    // Forgotten in this very moment.
    if (!known) throw stillAnswering();
    const sealed = JSON.parse(vault.open(known.answer_sealed, answerContext(id))) as Sealed;
    if (sealed.fingerprint !== fingerprint) throw otherRequest();
    if (sealed.answer) return sealed.answer;
    if (known.resource !== null) throw answerLost(known.resource);
    const isAbandoned = known.owner === owner || now.getTime() - Date.parse(known.created_at) > LEASE_MS;
    if (!isAbandoned || !(await store(db).takeOver(id, known.owner, owner, created_at))) throw stillAnswering();
    return undefined;
  };

  const begin: BeginRequest = async (id, fingerprint) => {
    for (let other = open.get(id); other; other = open.get(id)) {
      if (other.fingerprint !== fingerprint) throw otherRequest();
      await other.ended;
    }
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const end = () => {
      open.delete(id);
      resolve();
    };
    open.set(id, { fingerprint, ended });
    try {
      const again = await claim(id, fingerprint);
      if (again) {
        end();
        return { again };
      }
    } catch (error) {
      end();
      throw error;
    }
    return {
      async finish(answer) {
        try {
          if (answer) await store(db).answer(id, seal(id, { fingerprint, answer }));
          else await store(db).forget(id);
        } finally {
          end();
        }
      },
    };
  };

  /** Notes what a request made, with the entry that tells of it: the first counts. */
  const recorded: RecordChanges = async (tx, [first]) => {
    if (first?.actor.idempotencyId !== undefined) await store(tx).noteMade(first.actor.idempotencyId, first.resource);
  };

  return {
    begin,
    recorded,

    /** For a store that no other process uses: what nobody answers any more and made nothing may be tried again at once. */
    forgetUnanswered: (): Promise<void> => store(db).forgetUnanswered(),
  };
};
