import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { ArchiveError } from './archive-error.ts';
import { createChunkWriter } from './chunks.ts';
import { type Header, headerBytes } from './header.ts';
import { CHUNK_BYTES, MANIFEST_BYTES, MOST_ROW_BYTES, TAG_BYTES } from './layout.ts';
import { type Contents, type Manifest, manifestBytes, type Part } from './manifest.ts';
import { openArchive, readHeader, readThrough } from './open-archive.ts';
import type { Row, TableBatch } from './rows.ts';
import { plainSeal } from './seal.ts';
import { type ArchiveContents, writeArchive } from './write-archive.ts';

const PASSPHRASE = 'five rusty anchors';
const KNOWN = { tables: new Set(['users', 'hosts', 'settings']), files: new Set(['geo/country.mmdb']) };
const ABOUT = { product: '0.1.0', created_at: '2026-11-22T05:00:00.000Z', kind: 'manual', reason: '' } as const;
const KEY = randomBytes(32);

const directory = mkdtempSync(join(tmpdir(), 'sallyport-backup-'));
afterAll(() => rmSync(directory, { recursive: true }));
const newPath = () => join(directory, randomBytes(8).toString('hex'));

async function* inOrder(batches: readonly TableBatch[]): AsyncGenerator<TableBatch> {
  yield* batches;
}

const users: Row[] = [
  { id: 1, email: 'ann@example.com', last_login: null },
  { id: 2, email: 'line\nfeed "quote" \u2028 ü 🚢', last_login: '2026-11-22T05:00:00.000Z' },
];

const contents = (more: Partial<ArchiveContents> = {}): ArchiveContents => ({
  ...ABOUT,
  migrations: ['0001-routes'],
  key_fingerprint: '0a1b2c3d',
  tableNames: ['users', 'hosts', 'settings'],
  tables: inOrder([
    { table: 'users', rows: users.slice(0, 1) },
    { table: 'users', rows: users.slice(1) },
    { table: 'settings', rows: [{ key: 'a', value: 'b' }] },
  ]),
  ...more,
});

const write = async (what: ArchiveContents, passphrase?: string): Promise<{ path: string; manifest: Manifest }> => {
  const path = newPath();
  const file = await open(path, 'wx', 0o600);
  try {
    return { path, manifest: await writeArchive(file, what, passphrase) };
  } finally {
    await file.close();
  }
};

const read = async (path: string, passphrase?: string) => {
  const archive = await openArchive(path, { known: KNOWN, passphrase });
  try {
    const tables: Record<string, Row[]> = {};
    for await (const { table, rows } of archive.tables()) tables[table] = [...(tables[table] ?? []), ...rows];
    const files: Record<string, Buffer> = {};
    for (const { name, content } of archive.files()) files[name] = await buffer(content);
    return { manifest: archive.manifest, key: archive.key, tables, files };
  } finally {
    await archive.close();
  }
};

/** What reading all of a file says; empty when nothing is wrong. Anything but an `ArchiveError` is a fault of ours. */
const problemOf = async (path: string, passphrase?: string): Promise<string> => {
  try {
    const archive = await openArchive(path, { known: KNOWN, passphrase });
    try {
      await readThrough(archive);
    } finally {
      await archive.close();
    }
    return '';
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error;
    return error.message;
  }
};

describe('a backup', () => {
  test('gives back what was put in, tables without rows included', async () => {
    const { path, manifest } = await write(contents());
    const archive = await read(path);
    expect(archive.manifest).toEqual(manifest);
    expect(archive).toMatchObject({
      key: undefined,
      files: {},
      tables: { users, settings: [{ key: 'a', value: 'b' }] },
    });
    expect(manifest.parts.map(({ name, rows }) => [name, rows])).toEqual([
      ['tables/users', 2],
      ['tables/settings', 1],
      ['tables/hosts', 0],
    ]);
    expect(await readHeader(path)).toEqual({ ...ABOUT, encryption: null });
  });

  test.each([undefined, PASSPHRASE])(
    'holds more than fits into memory at a time, passphrase: %s',
    async (passphrase) => {
      const database = randomBytes(CHUNK_BYTES + 1);
      const rows = (from: number): Row[] =>
        Array.from({ length: 1_000 }, (_, n) => ({
          id: from + n,
          name: createHash('md5').update(`${n}`).digest('hex'),
        }));
      async function* tables(): AsyncGenerator<TableBatch> {
        for (let n = 0; n < 30; n++) yield { table: 'hosts', rows: rows(n * 1_000) };
      }
      async function* content() {
        yield database;
      }
      const files = [{ name: 'geo/country.mmdb', content: content() }];
      const { path } = await write(contents({ tables: tables(), files }), passphrase);
      const archive = await read(path, passphrase);
      expect(archive.tables.hosts?.length).toBe(30_000);
      expect(archive.tables.hosts?.at(-1)).toEqual(rows(29_000).at(-1));
      expect(archive.files['geo/country.mmdb']?.equals(database)).toBe(true);
    },
  );

  test('with a passphrase shows nothing but its first lines, and holds the key', async () => {
    const { path } = await write(contents({ key: KEY }), PASSPHRASE);
    const bytes = await readFile(path);
    for (const word of ['ann@example.com', 'tables/users', '0a1b2c3d', PASSPHRASE])
      expect(bytes.includes(word)).toBe(false);
    expect(bytes.includes(KEY)).toBe(false);
    expect(await read(path, PASSPHRASE)).toMatchObject({ key: KEY, tables: { users } });
    expect(await readHeader(path)).toMatchObject(ABOUT);
  });

  test('opens with the same passphrase typed on another keyboard', async () => {
    const { path } = await write(contents(), 'Gru\u0308n bleibt gru\u0308n');
    expect(await problemOf(path, 'Gr\u00fcn bleibt gr\u00fcn')).toBe('');
  });

  test('never holds the key without a passphrase', async () => {
    await expect(write(contents({ key: KEY }))).rejects.toThrow(/passphrase/);
  });

  test('is not made of rows nobody asked for, that come twice, or that no reader would take', async () => {
    const of = (...batches: TableBatch[]) => write(contents({ tables: inOrder(batches) }));
    await expect(of({ table: 'other', rows: users })).rejects.toThrow(/other/);
    const [first, second] = [
      { table: 'users', rows: users },
      { table: 'hosts', rows: users },
    ];
    await expect(of(first, second, first)).rejects.toThrow(/twice/);
    await expect(of({ table: 'users', rows: [{ id: 'x'.repeat(MOST_ROW_BYTES) }] })).rejects.toThrow(/too large/);
  });

  test('is not made of two files of one name, which no reader would take', async () => {
    const file = () => ({
      name: 'geo/country.mmdb',
      content: (async function* () {
        yield Buffer.from('x');
      })(),
    });
    await expect(write(contents({ files: [file(), file()] }))).rejects.toThrow(/geo\/country.mmdb came twice/);
  });
});

describe('a damaged backup', () => {
  /** Every byte but for most of the blanks that fill the manifest up. */
  const places = (size: number, header: number): number[] => {
    const blanks = { from: header + 1_000, to: header + MANIFEST_BYTES - 10 };
    return Array.from({ length: size }, (_, at) => at).filter(
      (at) => at < blanks.from || at > blanks.to || at % 997 === 0,
    );
  };

  test('is noticed, whichever byte was changed', async () => {
    const bytes = await readFile((await write(contents())).path);
    const header = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    const path = newPath();
    for (const at of places(bytes.length, header)) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x04;
      await writeFile(path, changed);
      expect(await problemOf(path), `byte ${at}`).not.toBe('');
    }
  });

  test('is noticed wherever it ends, and when it goes on', async () => {
    const bytes = await readFile((await write(contents())).path);
    const path = newPath();
    const header = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    for (const at of places(bytes.length, header)) {
      await writeFile(path, bytes.subarray(0, at));
      expect(await problemOf(path), `${at} bytes`).toMatch(at === 0 ? /empty/ : /cut off|damaged|not a backup/);
    }
    await writeFile(path, Buffer.concat([bytes, Buffer.from('x')]));
    expect(await problemOf(path)).toBe('the backup goes on for 1 bytes after its end');
  });

  test('with a passphrase is told from a wrong passphrase', async () => {
    const bytes = await readFile((await write(contents({ key: KEY }), PASSPHRASE)).path);
    const header = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    const path = newPath();
    const problemAt = async (at: number) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await writeFile(path, changed);
      return problemOf(path, PASSPHRASE);
    };
    expect(await problemAt(header)).toBe('the manifest of the backup is damaged');
    expect(await problemAt(header + MANIFEST_BYTES)).toBe('the manifest of the backup is damaged');
    for (const at of [header + MANIFEST_BYTES + TAG_BYTES, bytes.length - 1]) {
      expect(await problemAt(at)).toBe('the backup is damaged in chunk 1');
    }
    // A word of the lines that anybody can read, and the salt.
    expect(await problemAt(bytes.indexOf('manual'))).toMatch(/second line/);
    expect(await problemAt(bytes.indexOf('0.1.0'))).toBe('the manifest of the backup is damaged');
    expect(await problemAt(bytes.indexOf('"salt":"') + 8)).toMatch(/passphrase is not the one|second line/);
    await writeFile(path, bytes);
    expect(await problemOf(path, 'five rusty anchor')).toMatch(/passphrase is not the one of this backup/);
    expect(await problemOf(path)).toMatch(/encrypted/);
    expect(await problemOf(path, PASSPHRASE)).toBe('');
  });

  test.each([undefined, PASSPHRASE])('is noticed when chunks change places, passphrase: %s', async (passphrase) => {
    const noise = randomBytes(3 * CHUNK_BYTES);
    async function* content() {
      yield noise;
    }
    const { path } = await write(contents({ files: [{ name: 'geo/country.mmdb', content: content() }] }), passphrase);
    const bytes = await readFile(path);
    const header = bytes.indexOf('\n', bytes.indexOf('\n') + 1) + 1;
    const first = header + MANIFEST_BYTES + TAG_BYTES;
    const size = CHUNK_BYTES + TAG_BYTES;
    const [one, two] = [bytes.subarray(first, first + size), bytes.subarray(first + size, first + 2 * size)];
    await writeFile(path, Buffer.concat([bytes.subarray(0, first), two, one, bytes.subarray(first + 2 * size)]));
    expect(await problemOf(path, passphrase)).toBe('the backup is damaged in chunk 1');
  });
});

describe('a backup that somebody else made', () => {
  const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  const part = (name: string, content: Buffer, more: Partial<Part> = {}): [Part, Buffer] => {
    const packed = gzipSync(content);
    return [{ name, rows: 0, bytes: content.length, stored: packed.length, sha256: sha256(content), ...more }, packed];
  };
  const forge = async (parts: readonly [Part, Buffer][], more: Partial<Contents> | object = {}) => {
    const path = newPath();
    const raw = headerBytes({ ...ABOUT, encryption: null } satisfies Header);
    const file = await open(path, 'wx');
    const writer = createChunkWriter(file, raw, plainSeal(raw));
    for (const [, packed] of parts) await writer.write(packed);
    const listed = { migrations: [], key_fingerprint: '', parts: parts.map(([one]) => one), ...more };
    await writer.end(manifestBytes(listed));
    await file.close();
    return problemOf(path);
  };
  const rows = (text: string) => Buffer.from(text);
  const row = rows('{"id":1}\n');

  test('is taken when it is right', async () => {
    expect(await forge([part('tables/users', row, { rows: 1 })])).toBe('');
  });

  test('is refused for parts that nobody knows, that come twice, or whose names lead elsewhere', async () => {
    expect(await forge([part('tables/sessions', row, { rows: 1 })])).toMatch(/tables\/sessions, which this version/);
    expect(await forge([part('files/geo/other.mmdb', row)])).toMatch(/does not know/);
    const twice = part('tables/users', row, { rows: 1 });
    expect(await forge([twice, twice])).toBe('the backup holds tables/users twice');
    for (const name of ['files/../../etc/passwd', 'files//etc/passwd', 'tables/constructor', 'tables/', 'users', '']) {
      expect(await forge([part(name, row, { rows: 1 })]), name).toMatch(/does not know|not one of this format/);
    }
  });

  test('is refused when it expands to more than its manifest says, or than is allowed', async () => {
    const zeros = Buffer.alloc(64 * 1024 * 1024);
    expect(await forge([part('tables/users', zeros, { bytes: 1_000 })])).toMatch(/more than the 1000 bytes/);
    expect(await forge([part('tables/users', row, { bytes: 9 * 1024 ** 3 })])).toMatch(/are allowed/);
    expect(await forge([part('tables/users', zeros)])).toMatch(/a row of users is larger than any/);
    expect(await forge([part('key', zeros)])).toMatch(/the key in the backup is none/);
  });

  test('is refused for contents that are not what its manifest says', async () => {
    expect(await forge([part('tables/users', row, { rows: 2 })])).toMatch(/1 rows where the manifest says 2/);
    expect(await forge([part('tables/users', row, { rows: 1, sha256: sha256(rows('x')) })])).toMatch(/not what/);
    expect(await forge([part('tables/users', row, { rows: 1, bytes: 100 })])).toMatch(/not what/);
    expect(await forge([[part('tables/users', row)[0], Buffer.alloc(29, 'x')]])).toMatch(/can not be expanded/);
    const [whole, packed] = part('tables/users', row, { rows: 1 });
    expect(await forge([[{ ...whole, stored: packed.length - 9 }, packed.subarray(0, -9)]])).toMatch(/expanded/);
  });

  test.each([
    'x',
    '[]',
    'null',
    '{"id":{}}',
    '{"id":true}',
    '{"__proto__":1}',
    '{"id":1e999}',
    '{"ID":1}',
    `${'['.repeat(200_000)}`,
  ])('is refused for a line that is no row: %.20s', async (line) => {
    expect(await forge([part('tables/users', rows(`${line}\n`), { rows: 1 })])).toBe(
      'users holds a line that is no row',
    );
  });

  test('is refused for rows that end without their line', async () => {
    expect(await forge([part('tables/users', rows('{"id":1}\n{"id"'), { rows: 1 })])).toMatch(/cut off/);
  });

  test.each([
    { parts: {} },
    { parts: [{}] },
    { parts: [{ ...part('tables/users', row)[0], rows: -1 }] },
    { parts: [{ ...part('tables/users', row)[0], bytes: 0.5 }] },
    { parts: [{ ...part('tables/users', row)[0], more: 1 }] },
    { parts: [part('tables/users', row)[0], {}] },
    { parts: [{ ...part('tables/users', row)[0], sha256: '0'.repeat(65) }] },
    { migrations: ['../x'] },
    { migrations: 1 },
    { key_fingerprint: 'KEY' },
    { more: 1 },
  ])('is refused for a manifest that is none: %j', async (more) => {
    expect(await forge([], more)).toBe('the manifest of the backup is not one of this format');
  });

  test('is refused when it is of another format, or no backup at all', async () => {
    const path = newPath();
    const problem = async (content: string | Buffer) => {
      await writeFile(path, content);
      return problemOf(path);
    };
    expect(await problem('')).toBe('the file is empty');
    expect(await problem(gzipSync('{"format":1}'))).toMatch(/gzipped/);
    expect(await problem('sallyport-backup 3\n{}\n')).toBe(
      'the backup has format 3, and this version reads format 2 only',
    );
    expect(await problem('PK\x03\x04')).toMatch(/not a backup of Sallyport/);
    expect(await problem(`sallyport-backup 2\n${'x'.repeat(100_000)}`)).toMatch(/first lines/);
    // What it says of itself is shown, so it is nothing but what we write.
    const wrong = [
      { product: '<script>' },
      { product: 'x'.repeat(65) },
      { product: 1 },
      { created_at: '2026-99-99T05:00:00.000Z' },
      { created_at: '2026-11-22T05:00:00.000Z\n' },
      { kind: 'other' },
      { reason: 'Reason' },
      { encryption: {} },
      { encryption: { salt: '0'.repeat(32), check: '0'.repeat(31) } },
      { encryption: { salt: '0'.repeat(33), check: '0'.repeat(32) } },
      { more: 1 },
    ].map((more) => JSON.stringify({ ...ABOUT, encryption: null, ...more }));
    for (const line of ['{}', '[]', 'null', '{', ...wrong]) {
      expect(await problem(`sallyport-backup 2\n${line}\n`), line).toMatch(/second line/);
    }
  });
});
