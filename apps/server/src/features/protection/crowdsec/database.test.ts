import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { crowdsecAccount } from './account.ts';
import { setAside } from './damage.ts';
import { createDamageWatch, faultInside } from './database.ts';

const PAGE = 512;

interface Given {
  directory: string;
  /** Of its database. */
  path: string;
  place: Parameters<typeof createDamageWatch>[0];
  watch: ReturnType<typeof createDamageWatch>;
}

/** With a database in its place that has some pages, of which the process that is watched was started. */
const withDatabase = (work: (given: Given) => Promise<void>): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const place = { directory, account: crowdsecAccount(directory, 1_000) };
    mkdirSync(place.account.state.at);
    const path = join(place.account.state.at, 'crowdsec.db');
    const database = new DatabaseSync(path);
    database.exec(`pragma page_size = ${PAGE}; create table decisions (value text)`);
    const add = database.prepare('insert into decisions values (?)');
    for (let index = 0; index < 200; index++) add.run(`192.0.2.${index}`);
    database.close();
    const watch = createDamageWatch(place);
    watch.begin();
    await work({ directory, path, place, watch });
  });

const writeAt = (path: string, position: number, bytes: string | Buffer): void => {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.from(bytes), 0, Buffer.byteLength(bytes), position);
  closeSync(file);
};

/** Files below this directory that this process has open. */
const heldOpen = (directory: string): string[] =>
  readdirSync('/proc/self/fd')
    .map((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`);
      } catch {
        // The one that listed them.
        return '';
      }
    })
    .filter((path) => path.startsWith(directory));

/** Its first page stays, which says that it is a database. */
const scribble = (path: string): void => writeAt(path, PAGE, Buffer.alloc(statSync(path).size - PAGE, 0x5a));

/** A process that has said these lines. */
const saying = (...lines: string[]) => ({ lastSaid: (is: (line: string) => boolean) => lines.findLast(is) });
const silent = saying();
const TOLD = 'level=error msg="database disk image is malformed"';

test('what is whole is no fault, whatever is said of it', () =>
  withDatabase(async ({ watch, place, directory }) => {
    expect(await watch.fault(silent)).toBeUndefined();
    expect(await watch.fault(saying(TOLD))).toBeUndefined();
    expect(await watch.faultAtRest()).toBeUndefined();
    expect(await faultInside(place)).toBeUndefined();
    // Nothing is left of the copy, and nothing is held open.
    expect(existsSync(join(directory, 'look'))).toBe(false);
    expect(heldOpen(directory)).toEqual([]);
  }));

test('who writes the database can not have us look at it for as long as they like', () =>
  withDatabase(async ({ path, place, directory }) => {
    const database = new DatabaseSync(path);
    const slow = "instr(hex(zeroblob(5000000 + length(value))), 'x') = 0";
    database.exec(`pragma ignore_check_constraints = on; create table slow (value text check (${slow}))`);
    database.exec('insert into slow select value from decisions, (select 1 from decisions limit 50)');
    database.close();
    const look = faultInside(place, 3_000);
    look.catch(() => undefined);
    // It would end without us, too: nobody may be there any more.
    const checks = () =>
      readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8')
        .split(' ')
        .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('check-database'));
    const limits = () =>
      checks().map((pid) => /^Max cpu time +4 +4 /m.test(readFileSync(`/proc/${pid}/limits`, 'utf8')));
    await expect.poll(limits).toEqual([true]);
    await expect(look).rejects.toMatchObject({ killed: true });
    expect(existsSync(join(directory, 'look'))).toBe(false);
  }));

test.each<[string, (path: string) => void]>([
  ['the file of its database is gone', (path) => rmSync(path)],
  [
    'the file of its database is another one',
    (path) => {
      writeFileSync(`${path}.new`, readFileSync(path));
      renameSync(`${path}.new`, path);
    },
  ],
  ['the file of its database is none any more', (path) => writeAt(path, 0, 'nothing')],
])('also before the process meets it: %s', (fault, damage) =>
  withDatabase(async ({ watch, path }) => {
    damage(path);
    expect(await watch.fault(silent)).toBe(fault);
    expect(await watch.faultAtRest()).toBe(fault);
    // The one that is started next has this one.
    watch.begin();
    expect(await watch.fault(silent)).toBe(fault.endsWith('any more') ? fault : undefined);
  }),
);

test('before there was a database nothing is wrong with its file', () =>
  withDatabase(async ({ place, path }) => {
    const bytes = readFileSync(path);
    rmSync(path);
    const watch = createDamageWatch(place);
    watch.begin();
    writeFileSync(path, bytes);
    expect(await watch.fault(silent)).toBeUndefined();
    expect(await watch.faultAtRest()).toBeUndefined();
  }));

test('what is wrong inside is looked at when the process speaks of it, and once it has ended', () =>
  withDatabase(async ({ watch, path, directory }) => {
    scribble(path);
    expect(await watch.fault(silent)).toBeUndefined();
    expect(await watch.fault(saying('level=error msg="disk is full"'))).toBeUndefined();
    expect(await watch.fault(saying(TOLD, 'level=info msg="something else"'))).toMatch(/malformed|btree|page/i);
    expect(await watch.faultAtRest()).toMatch(/malformed|btree|page/i);
    expect(existsSync(join(directory, 'look'))).toBe(false);
  }));

test('who can put words into its log has us look once a minute at most', () =>
  withDatabase(async ({ watch, path }) => {
    expect(await watch.fault(saying(TOLD))).toBeUndefined();
    scribble(path);
    expect(await watch.fault(saying(TOLD))).toBeUndefined();
    expect(await watch.fault(saying(`${TOLD} again`))).toBeUndefined();
    expect(await watch.faultAtRest()).toBeDefined();
  }));

test('what stands in the log before the file belongs to it', () =>
  withDatabase(async ({ place, path }) => {
    // It is there only as long as somebody has it open.
    const writer = new DatabaseSync(path);
    writer.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table more (value text)');
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);
    expect(await faultInside(place)).toBeUndefined();
    writer.close();
    rmSync(`${path}-wal`, { force: true });
    mkdirSync(`${path}-wal`);
    await expect(faultInside(place)).rejects.toThrow('EISDIR');
  }));

test('no link is followed, and nothing is read without end', () =>
  withDatabase(async ({ place, path, watch, directory }) => {
    renameSync(path, `${path}.elsewhere`);
    symlinkSync(`${path}.elsewhere`, path);
    await expect(faultInside(place)).rejects.toThrow('ELOOP');
    expect(await watch.fault(silent)).toBe('the file of its database is another one');
    rmSync(path);
    await expect(faultInside(place)).rejects.toThrow('ENOENT');
    expect(existsSync(join(directory, 'look'))).toBe(false);
  }));

test('set aside: the next start makes all three anew, and of those put aside the last are kept', () =>
  withDatabase(async ({ place, path, directory }) => {
    const { at } = place.account.state;
    writeFileSync(join(directory, 'key'), 'key');
    setAside(place);
    expect([existsSync(join(directory, 'key')), existsSync(at)]).toEqual([false, false]);
    expect(existsSync(join(`${at}.damaged`, 'crowdsec.db'))).toBe(true);
    mkdirSync(at);
    writeFileSync(path, 'the second');
    setAside(place);
    expect(readFileSync(join(`${at}.damaged`, 'crowdsec.db'), 'utf8')).toBe('the second');
    // What there is not leaves what was put aside.
    setAside(place);
    expect(existsSync(join(`${at}.damaged`, 'crowdsec.db'))).toBe(true);
  }));
