import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { headerBytes } from '@sallyport/backup/format/header';
import { createReceipts } from '@sallyport/backup/shelf/receipts';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import type { BackupKind, NotificationEvent } from '@sallyport/contract';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { freePort } from '../../../../../../../test/support/free-ports.ts';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { S3_KEY, startS3 } from '../../../../testing/start-s3.ts';
import { createCopier } from './copier.ts';

const START = Date.parse('2026-01-01T12:00:00.000Z');
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ELSEWHERE = 'http://192.0.2.1/kept';
const at = (ms: number) => new Date(START + ms).toISOString();
const named = (kind: BackupKind, n: number) => `sallyport-20260101-00000${n}-${kind}-abcdef.backup`;

const makeGiven = (dataDir: string) => {
  const directory = join(dataDir, 'backups');
  mkdirSync(directory);
  const shelf = createShelf(dataDir);
  const receipts = createReceipts(dataDir);
  const settings = new Map([['backup.copy_url', ELSEWHERE]]);
  const asked: string[][] = [];
  const told: NotificationEvent[] = [];
  const logged: string[] = [];
  const disk = { isFull: false };
  let [now, failures, looks] = [0, 0, 0];
  const copier = createCopier({
    shelf: {
      ...shelf,
      findAll(names) {
        asked.push([...names].sort());
        return shelf.findAll(names);
      },
    },
    receipts: {
      ...receipts,
      async write(receipt) {
        if (receipt.copied_at !== null && disk.isFull) throw new Error('no space left');
        await receipts.write(receipt);
      },
    },
    async read(key) {
      if (key === 'backup.copy_url') looks += 1;
      return settings.get(key) ?? '';
    },
    tell: (event) => void told.push(event),
    failed: () => void failures++,
    clock: () => new Date(START + now),
    log: pino({ level: 'warn' }, { write: (line) => void logged.push(line) }),
  });
  const begun = async (begin: () => void) => {
    const before = looks;
    begin();
    await expect.poll(() => looks, { interval: 2 }).toBeGreaterThan(before);
  };
  const add = (kind: BackupKind, n: number, isEncrypted = true) => {
    const made = { product: '0.1.0', created_at: at(n * 1_000), kind: 'manual', reason: '' } as const;
    const encryption = { salt: '0'.repeat(32), check: '0'.repeat(32) };
    const name = named(kind, n);
    writeFileSync(join(directory, name), headerBytes({ ...made, encryption: isEncrypted ? encryption : null }));
    return name;
  };
  return {
    ...{ copier, settings, receipts, asked, told, logged, add, disk },
    failures: () => failures,
    /** Has it look when so much time has passed; resolves when it has: what looks next begins after it. */
    async lookAfter(ms: number, begin: () => void = copier.made) {
      now += ms;
      await begun(begin);
      await begun(copier.made);
    },
    async stateOf(name: string) {
      const backup = await shelf.find(name);
      return backup && (await copier.look())(backup);
    },
    copyTo(url: string) {
      settings.set('backup.copy_url', url);
      settings.set('backup.copy_access_key', S3_KEY.accessKey);
      settings.set('backup.copy_secret_key', S3_KEY.secretKey);
    },
  };
};
const withCopier = (work: (given: ReturnType<typeof makeGiven>) => Promise<void>) =>
  withTemporaryDirectory((dataDir) => work(makeGiven(dataDir)));

test('what is there already, or stays here, is looked at once, and again when the settings say something else', () =>
  withCopier(async ({ copier, settings, receipts, asked, add }) => {
    const nextLook = async () => {
      const before = asked.length;
      copier.made();
      await expect.poll(() => asked.length, { interval: 2 }).toBeGreaterThan(before);
      return asked[before];
    };
    await receipts.write({ name: add('manual', 1, false), to: ELSEWHERE, copied_at: at(0) });
    const [plain, uploaded] = [add('manual', 2, false), add('uploaded', 3, false)];
    expect(await nextLook()).toEqual([plain, uploaded]);
    expect(await nextLook()).toEqual([]);
    const later = add('manual', 4, false);
    expect(await nextLook()).toEqual([later]);
    settings.set('backup.copy_unencrypted', 'true');
    expect(await nextLook()).toEqual([plain, uploaded, later].sort());
    expect(await nextLook()).toEqual([]);
  }));

test('one that fails is tried after a minute, then twice as long each time up to an hour; whoever is told is told once a day', () =>
  withCopier(async ({ copier, add, lookAfter, stateOf, failures, told, logged }) => {
    // No key is set to sign in with.
    const name = add('manual', 1);
    await lookAfter(0);
    const problem = 'backup.copy_access_key is not set';
    expect(await stateOf(name)).toEqual({ copied_at: null, copy_problem: problem, copy_retry_at: at(MINUTE_MS) });
    expect(told).toEqual([
      {
        event_type: 'backup_failed',
        severity: 'error',
        timestamp: at(0),
        message: `The backup ${name} could not be copied: ${problem}; it is tried again at ${at(MINUTE_MS)}`,
        details: { last_made_at: null, retry_at: at(MINUTE_MS) },
      },
    ]);
    expect(logged.filter((line) => line.includes('could not be copied'))).toHaveLength(1);

    let passed = 0;
    for (const [index, minutes] of [1, 2, 4, 8, 16, 32, 60, 60].entries()) {
      await lookAfter(minutes * MINUTE_MS - 1);
      expect(failures()).toBe(index + 1);
      await lookAfter(1);
      passed += minutes * MINUTE_MS;
      expect(failures()).toBe(index + 2);
    }
    expect(await stateOf(name)).toMatchObject({ copy_retry_at: at(passed + HOUR_MS) });
    expect(told).toHaveLength(1);
    await lookAfter(24 * HOUR_MS - passed - 1);
    expect(told).toHaveLength(1);
    await lookAfter(HOUR_MS);
    expect(told).toHaveLength(2);

    // Whoever changes a setting need not wait, and the next pause is a short one again.
    const before = failures();
    await lookAfter(0, copier.changed);
    expect(failures()).toBe(before + 1);
    await lookAfter(MINUTE_MS);
    expect(failures()).toBe(before + 2);
  }));

test('a scheduled one that has to stay here is told once, and needs no second look; nobody is told of others', () =>
  withCopier(async ({ add, lookAfter, failures, told, logged, stateOf, copyTo, settings }) => {
    const [manual, scheduled] = [add('manual', 1, false), add('scheduled', 2, false)];
    await lookAfter(0);
    await lookAfter(0);
    expect([failures(), told.length]).toEqual([1, 1]);
    expect(told[0]?.message).toMatch(new RegExp(`^The backup ${scheduled} could not be copied: it is not encrypted`));
    expect(told[0]?.details).toEqual({ last_made_at: null, retry_at: null });
    const stays = { copied_at: null, copy_problem: expect.stringMatching(/^it is not encrypted/), copy_retry_at: null };
    expect(await stateOf(manual)).toEqual(stays);
    const warnings = () => logged.filter((line) => line.includes('are not copied')).length;
    expect(warnings()).toBe(1);
    settings.set('backup.passphrase', 'one of ours');
    await lookAfter(0);
    settings.delete('backup.passphrase');
    await lookAfter(0);
    expect(warnings()).toBe(2);
    // Looked at anew by other rules, it is still the same that was told.
    copyTo('http://192.0.2.2/kept');
    await lookAfter(0);
    expect([failures(), told.length]).toEqual([1, 1]);
    // Without a place there is nothing to tell.
    copyTo('');
    expect(await stateOf(scheduled)).toEqual({ copied_at: null, copy_problem: '', copy_retry_at: null });
  }));

test('in a real bucket: one that can not be copied holds up no other; what is surplus, or half, goes; the rest stays', async () => {
  const s3 = await startS3();
  try {
    await withCopier(async (given) => {
      const { copier, add, lookAfter, stateOf, failures, receipts, settings, copyTo, told, disk } = given;
      const to = `${s3.url}/nightly`;
      copyTo(to);
      settings.set('backup.keep', '2');
      expect(await copier.test()).toMatchObject({ copied: true, error: '' });
      expect(s3.keys('nightly/')).toEqual([]);

      const receipt = (name: string, copied_at: string | null, place = to) =>
        receipts.write({ name, to: place, copied_at }).then(() => name);
      // Not here any more: those that were made by themselves, one that somebody made, a half of one, one that is elsewhere.
      const gone = [1, 2, 3].map((n) => named('scheduled', n));
      for (const name of gone) await receipt(name, at(0));
      const manual = await receipt(named('manual', 1), at(0));
      const half = await receipt(named('manual', 2), null);
      const automatic = await receipt(named('automatic', 1), at(0));
      const elsewhere = await receipt(named('scheduled', 0), at(0), ELSEWHERE);

      const [broken, next, last] = [add('manual', 3), add('scheduled', 4), add('manual', 5)];
      const obstacle = join(s3.directory, 'kept/nightly', `${broken}._S3rver_object`);
      mkdirSync(join(obstacle, 'in the way'), { recursive: true });
      await lookAfter(0);
      expect(failures()).toBe(1);
      expect(await stateOf(broken)).toMatchObject({ copied_at: null, copy_problem: expect.stringMatching(/500/) });
      expect(await receipts.read(broken)).toMatchObject({ to, copied_at: null });
      await lookAfter(MINUTE_MS);
      for (const name of [next, last]) {
        expect(await stateOf(name)).toEqual({ copied_at: at(MINUTE_MS), copy_problem: '', copy_retry_at: null });
      }
      expect(s3.keys('nightly/').filter((key) => key !== broken)).toEqual([next, last].sort());
      // Others went well in between: the next pause is the shortest, and it is news again.
      expect(failures()).toBe(2);
      expect(told).toHaveLength(2);
      expect(await stateOf(broken)).toMatchObject({ copy_retry_at: at(2 * MINUTE_MS) });

      const left = async (names: string[]) => {
        const found = await Promise.all(names.map((name) => receipts.read(name)));
        return names.filter((_, index) => found[index]);
      };
      expect(await left([...gone, manual, half, automatic, elsewhere])).toEqual([
        gone[2],
        manual,
        automatic,
        elsewhere,
      ]);
      // One that nobody could note is told as what failed, and copied once more.
      const unnoted = add('manual', 6);
      disk.isFull = true;
      await lookAfter(MINUTE_MS);
      expect(await stateOf(unnoted)).toMatchObject({ copied_at: null, copy_problem: 'no space left' });
      disk.isFull = false;
      await lookAfter(2 * MINUTE_MS);
      expect(await stateOf(unnoted)).toMatchObject({ copied_at: at(4 * MINUTE_MS) });

      // What is copied belongs to that place: elsewhere it is to be copied anew.
      settings.set('backup.copy_url', `${s3.url}/weekly`);
      expect(await stateOf(next)).toMatchObject({ copied_at: null, copy_problem: '' });
    });
  } finally {
    await s3.stop();
  }
});

test('without a place nothing is tried', () =>
  withCopier(async ({ add, lookAfter, failures, settings }) => {
    settings.set('backup.copy_url', '');
    add('manual', 1);
    await lookAfter(0);
    expect(failures()).toBe(0);
  }));

test('an SFTP host that is known is asked with a key or a password; one that is not is asked for its key first', () =>
  withCopier(async ({ copier, settings }) => {
    const refused = /ECONNREFUSED/;
    const tried = async (more: Record<string, string>) => {
      for (const [key, value] of Object.entries(more)) settings.set(`backup.copy_${key}`, value);
      return (await copier.test()).error;
    };
    expect(await tried({ url: `sftp://keeper@127.0.0.1:${await freePort()}/kept` })).toMatch(refused);
    expect(await tried({ host_key: `SHA256:${'A'.repeat(43)}` })).toBe('backup.copy_private_key is not set');
    expect(await tried({ password: 'a word' })).toMatch(refused);
    // With a key there is no password.
    expect(await tried({ private_key: 'no key' })).toMatch(/^Cannot parse privateKey/);
    expect(await tried({ url: '' })).toBe('backup.copy_url is not set');
  }));

test('once it is stopped it looks no more', () =>
  withCopier(async ({ copier, add, failures }) => {
    const running = copier.start();
    await running.stop();
    add('manual', 1);
    copier.made();
    await copier.start().stop();
    expect(failures()).toBe(0);
  }));
