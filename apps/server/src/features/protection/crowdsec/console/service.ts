import { hostname } from 'node:os';
import type { ConsoleEnrolment, LogEntry, NewConsoleEnrolment } from '@sallyport/contract';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import type { Executor, Transact } from '@sallyport/store/database/open';
import type { ConsoleEnrollmentRow } from '@sallyport/store/database/security-tables';
import { Refusal, refuse } from '@sallyport/store/errors';
import type { CheckVersion } from '@sallyport/store/object-version';
import { consoleContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { SafeFetch } from '../../../../net/safe-fetch.ts';
import { type CrowdsecProgram, whyNotInstalled } from '../program.ts';
import { enrolAt } from './api.ts';
import type { ConsoleCredentials } from './credentials.ts';
import type { ConsoleStore } from './store.ts';

export interface ConsoleDeps {
  /** Base URL of the central API. */
  url: string;
  fetch: SafeFetch;
  program: CrowdsecProgram;
  db: Executor;
  store: (executor: Executor) => ConsoleStore;
  vault: Vault;
  /** Resolves when what runs here follows the store. */
  changed: () => Promise<void>;
  /** Removes the credentials that CrowdSec reads, and what it read with them. */
  forget: () => Promise<void>;
  transact: Transact;
  record: RecordChange;
  publish: (entry: LogEntry) => void;
  clock: () => Date;
}

const RESOURCE = 'admin/crowdsec/console';

const NONE: ConsoleEnrolment = {
  state: 'none',
  name: null,
  tags: [],
  issue: null,
  enrolled_at: null,
  sends: null,
};

const sends = (url: string): string =>
  `While it runs, CrowdSec sends to ${url}: address, scenario and time of every alert, also of decisions made by hand here, its version, the names of its scenarios, and how many programs ask it; and it reads lists of addresses there that others have banned, which are enforced like its own bans`;

/** CrowdSec's enrolment at its console: from then on it tells others what it sees. */
export const createConsole = (deps: ConsoleDeps) => {
  const { url, fetch, program, db, store, vault, changed, forget, transact, record, publish, clock } = deps;
  let isEnrolling = false;
  /** Why the last try failed. */
  let lastIssue: string | null = null;

  const open = (row: ConsoleEnrollmentRow): ConsoleCredentials | undefined => {
    try {
      const password = vault.open(row.password_sealed, consoleContext(row.machine_login));
      return { url: row.url, login: row.machine_login, password };
    } catch {
      // Shown as the state's issue; CrowdSec goes on without the console.
      return undefined;
    }
  };

  const show = (row: ConsoleEnrollmentRow): ConsoleEnrolment => {
    const isOpen = open(row) !== undefined;
    return {
      state: isOpen ? 'waiting_for_acceptance' : 'failed',
      name: row.name,
      tags: JSON.parse(row.tags) as string[],
      issue: isOpen
        ? null
        : 'the stored password can not be opened with the key in use; remove the enrolment and enrol again',
      enrolled_at: row.created_at,
      sends: isOpen ? sends(row.url) : null,
    };
  };

  const showNone = (): ConsoleEnrolment => {
    if (isEnrolling) return { ...NONE, state: 'enrolling' };
    return lastIssue === null ? NONE : { ...NONE, state: 'failed', issue: lastIssue };
  };

  const state = async (): Promise<ConsoleEnrolment> => {
    const row = await store(db).find();
    return row ? show(row) : showNone();
  };

  const tell = (message: string, event: string): void =>
    publish({ level: 'info', message, timestamp: clock().toISOString(), source: 'crowdsec', fields: { event } });

  const refuseSecond = async (tx: Executor): Promise<void> => {
    if (!(await store(tx).find())) return;
    throw refuse.conflict('CrowdSec is enrolled already; remove that enrolment first');
  };

  return {
    state,

    /** Undefined when it is not enrolled, or its password can't be opened. */
    async credentials(): Promise<ConsoleCredentials | undefined> {
      const row = await store(db).find();
      return row && open(row);
    },

    /** Throws a 409 when it is enrolled, a 422 with the console's words, a 503 that says why not; then nothing is stored. */
    async enrol({ token, name = hostname(), tags = [] }: NewConsoleEnrolment, actor: Actor): Promise<ConsoleEnrolment> {
      const absent = whyNotInstalled(program);
      if (absent !== undefined) throw refuse.unavailable(absent);
      if (isEnrolling) throw refuse.conflict('CrowdSec is being enrolled already');
      isEnrolling = true;
      try {
        await refuseSecond(db);
        const { login, password } = await enrolAt({ url, fetch }, { token, name, tags });
        await transact(async (tx) => {
          await refuseSecond(tx);
          await store(tx).add({
            url,
            name,
            tags: JSON.stringify(tags),
            machine_login: login,
            password_sealed: vault.seal(password, consoleContext(login)),
            created_at: clock().toISOString(),
          });
          await record(tx, { action: 'crowdsec.enrol', actor, resource: RESOURCE, after: { url, name, tags } });
        });
        lastIssue = null;
      } catch (error) {
        if (error instanceof Refusal && error.status !== 409) lastIssue = error.message;
        throw error;
      } finally {
        isEnrolling = false;
      }
      tell('CrowdSec was enrolled at its console, and sends what it sees there', 'crowdsec_enrolled');
      await changed();
      return state();
    },

    /** Ends what is sent; the console goes on showing the machine until it is removed there. `check` throws a 412 for another version. */
    async remove(actor: Actor, check: CheckVersion): Promise<void> {
      const isRemoved = await transact(async (tx) => {
        const row = await store(tx).find();
        check(row ? show(row) : showNone());
        if (!row) return false;
        await store(tx).remove();
        const before = { url: row.url, name: row.name, tags: JSON.parse(row.tags) as string[] };
        await record(tx, { action: 'crowdsec.end_enrolment', actor, resource: RESOURCE, before });
        return true;
      });
      lastIssue = null;
      await forget();
      if (isRemoved) tell('CrowdSec is not enrolled any more, and sends nothing', 'crowdsec_enrolment_ended');
      await changed();
    },
  };
};
export type Console = ReturnType<typeof createConsole>;
