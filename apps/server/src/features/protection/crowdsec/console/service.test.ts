import type { LogEntry } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { createVault } from '@sallyport/store/secrets/vault';
import { expect, onTestFinished, test } from 'vitest';
import { createSafeFetch } from '../../../../net/safe-fetch.ts';
import { anywhere } from '../../../../testing/anywhere.ts';
import { type Central, startCentral, TOKEN } from '../../../../testing/central-api.ts';
import { type ScriptedCrowdsec, scriptedCrowdsec } from '../../../../testing/scripted-crowdsec.ts';
import { withStore } from '../../../../testing/with-store.ts';
import { createConsole } from './service.ts';
import { consoleStore } from './store.ts';

const actor = systemActor('test');
const NOW = '2026-05-02T12:00:00.000Z';
const RESOURCE = 'admin/crowdsec/console';

interface Given {
  console: ReturnType<typeof createConsole>;
  /** The same with the key of another deployment. */
  withAnotherKey: ReturnType<typeof createConsole>;
  store: ReturnType<typeof consoleStore>;
  central: Central;
  scripted: ScriptedCrowdsec;
  recorded: ChangeEntry[];
  published: LogEntry[];
  /** What was done, in order. */
  done: string[];
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const scripted = await scriptedCrowdsec();
    const central = await startCentral();
    onTestFinished(central.stop);
    const recorded: ChangeEntry[] = [];
    const published: LogEntry[] = [];
    const done: string[] = [];
    const fetch = createSafeFetch({
      lookup: async () => ['127.0.0.1'],
      addressPolicy: anywhere,
    });
    const withKey = (key: string) =>
      createConsole({
        url: central.url,
        fetch,
        program: scripted.program,
        db,
        transact,
        store: consoleStore,
        vault: createVault(key.repeat(32)),
        changed: async () => void done.push('changed'),
        forget: async () => void done.push('forgotten'),
        record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
        publish: (entry) => void published.push(entry),
        clock: () => new Date(NOW),
      });
    const [console, withAnotherKey] = [withKey('k'), withKey('x')];
    await work({ console, withAnotherKey, store: consoleStore(db), central, scripted, recorded, published, done });
  });

const NONE = { state: 'none', name: null, tags: [], issue: null, enrolled_at: null, sends: null };

test('who is enrolled is stored sealed, told and recorded, and what runs follows', () =>
  given(async ({ console, store, central, recorded, published, done }) => {
    expect(await console.state()).toEqual(NONE);
    expect(await console.credentials()).toBeUndefined();
    const enrolled = await console.enrol({ token: TOKEN, name: 'edge 1', tags: ['paris'] }, actor);
    expect(enrolled).toEqual({
      ...{ state: 'waiting_for_acceptance', name: 'edge 1', tags: ['paris'], issue: null, enrolled_at: NOW },
      sends: expect.stringContaining(`sends to ${central.url}: address, scenario and time of every alert`),
    });
    expect(await console.state()).toEqual(enrolled);
    const [register, login, enroll] = central.asked;
    expect(central.asked.map(({ path }) => path)).toEqual(
      ['', '/login', '/enroll'].map((path) => `/v2/watchers${path}`),
    );
    expect(register?.body).toEqual({
      machine_id: expect.stringMatching(/^[0-9a-f]{48}$/),
      password: expect.stringMatching(/^[A-Za-z0-9]{64}$/),
    });
    expect(login?.body).toEqual({ ...register?.body, scenarios: [] });
    expect(enroll).toMatchObject({
      authorization: 'Bearer header.claims.signature',
      body: { attachment_key: TOKEN, name: 'edge 1', tags: ['paris'], overwrite: false },
    });
    const { machine_id, password } = register?.body ?? {};
    expect(await console.credentials()).toEqual({ url: central.url, login: machine_id, password });
    expect(JSON.stringify([await store.find(), recorded, published])).not.toContain(String(password));
    expect(recorded).toEqual([
      {
        action: 'crowdsec.enrol',
        actor,
        resource: RESOURCE,
        after: { url: central.url, name: 'edge 1', tags: ['paris'] },
      },
    ]);
    expect(published).toMatchObject([
      { level: 'info', timestamp: NOW, source: 'crowdsec', fields: { event: 'crowdsec_enrolled' } },
    ]);
    expect(done).toEqual(['changed']);
    await expect(console.enrol({ token: TOKEN }, actor)).rejects.toMatchObject({ status: 409 });
    expect(central.asked).toHaveLength(3);
    expect((await console.state()).state).toBe('waiting_for_acceptance');
  }));

test('nothing is stored of what the console refuses or does not answer, and why is shown until it is tried anew', () =>
  given(async ({ console, store, central, scripted, recorded, done }) => {
    const refused = 'The console refuses the token: it answers 403: the attachment key … is not valid';
    await expect(console.enrol({ token: 'a-secret' }, actor)).rejects.toMatchObject({ status: 422, message: refused });
    expect(await console.state()).toEqual({ ...NONE, state: 'failed', issue: refused });
    central.listed = undefined;
    await expect(console.enrol({ token: TOKEN }, actor)).rejects.toMatchObject({
      status: 503,
      message: `The console at ${central.url} takes no new machine: it answers 503: away`,
    });
    central.stop();
    await expect(console.enrol({ token: TOKEN }, actor)).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining(`The console at ${central.url} can not be asked: `),
    });
    scripted.program.daemon = '/nowhere';
    await expect(console.enrol({ token: TOKEN }, actor)).rejects.toMatchObject({ status: 503 });
    expect([await store.find(), recorded, done]).toEqual([undefined, [], []]);
  }));

test('of two at once one is enrolled, and meanwhile it is said that it is', () =>
  given(async ({ console, central }) => {
    const first = console.enrol({ token: TOKEN }, actor);
    expect((await console.state()).state).toBe('enrolling');
    await expect(console.enrol({ token: TOKEN }, actor)).rejects.toMatchObject({ status: 409 });
    expect((await first).state).toBe('waiting_for_acceptance');
    expect(central.asked).toHaveLength(3);
  }));

test('what is removed is forgotten before it is said so, whether there was anything or not', () =>
  given(async ({ console, store, recorded, published, done }) => {
    await console.enrol({ token: TOKEN, name: 'edge 1' }, actor);
    done.length = 0;
    await expect(
      console.remove(actor, () => {
        throw refuse.conflict('another version');
      }),
    ).rejects.toMatchObject({ status: 409 });
    expect([(await console.state()).state, done]).toEqual(['waiting_for_acceptance', []]);
    let seen: unknown;
    await console.remove(actor, (now) => {
      seen = now;
    });
    expect(seen).toMatchObject({ state: 'waiting_for_acceptance', name: 'edge 1' });
    expect(await store.find()).toBeUndefined();
    expect(await console.state()).toEqual(NONE);
    expect(recorded.at(-1)).toMatchObject({
      action: 'crowdsec.end_enrolment',
      resource: RESOURCE,
      before: { name: 'edge 1', tags: [] },
    });
    expect(published.at(-1)?.fields).toEqual({ event: 'crowdsec_enrolment_ended' });
    expect(done).toEqual(['forgotten', 'changed']);
    await console.remove(actor, (now) => {
      seen = now;
    });
    expect(seen).toEqual(NONE);
    expect([recorded.length, published.length, done.length]).toEqual([2, 2, 4]);
  }));

test('what can not be opened any more is said, and CrowdSec goes on without it', () =>
  given(async ({ console, withAnotherKey }) => {
    await console.enrol({ token: TOKEN, name: 'edge 1' }, actor);
    expect(await withAnotherKey.credentials()).toBeUndefined();
    expect(await withAnotherKey.state()).toMatchObject({
      ...{ state: 'failed', name: 'edge 1', sends: null },
      issue: expect.stringContaining('can not be opened with the key in use'),
    });
    // A try that failed is forgotten with it.
    await withAnotherKey.remove(actor, () => undefined);
    expect(await withAnotherKey.state()).toEqual(NONE);
  }));
