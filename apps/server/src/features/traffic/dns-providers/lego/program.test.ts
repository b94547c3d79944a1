import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { askLego, findLego } from './program.ts';
import { createLegoTypes } from './types.ts';

const FOUR = `#!/bin/sh
case "$*" in
  --help) printf 'GLOBAL OPTIONS:\\n  --path\\n  --dns.resolvers value\\n' ;;
  dnshelp) printf 'All DNS codes:\\n  cloud, exec, other,\\n  empty, third, fourth, fifth\\n\\nMore\\n' ;;
  'dnshelp -c empty') echo 'Configuration for Empty.' ;;
  dnshelp*) printf 'Configuration for %s.\\n  - "A_TOKEN":\\tA token\\n' "$3"; echo "$3" >> "$0.asked" ;;
esac
`;
const FIVE = `#!/bin/sh\nprintf 'OPTIONS:\\n  --dns.resolvers value\\n'\n`;

/** A directory with a lego in it. */
const givenLego = (text = FOUR, mode = 0o755): string => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-lego-program-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  writeFileSync(join(directory, 'lego'), text, { mode });
  return directory;
};

test('the first lego of a search path that can be led is taken', async () => {
  const [four, five, other, closed] = [givenLego(), givenLego(FIVE), givenLego(), givenLego(FOUR, 0o644)];
  const within = givenLego();
  rmSync(join(within, 'lego'));
  mkdirSync(join(within, 'lego'));
  const broken = givenLego('#!/bin/sh\nexit 1\n');
  const search = ['', '.', '/nowhere', closed, within, broken, five, four, other].join(':');
  expect(await findLego(search)).toMatchObject({ path: join(four, 'lego') });
  await expect(findLego(`${five}:${five}`)).rejects.toThrow(
    `${five}/lego and ${five}/lego is no lego of version 4; install it with: apt-get install lego`,
  );
  for (const without of [`${closed}:${within}`, '']) {
    await expect(findLego(without)).rejects.toThrow('lego is not installed; install it with: apt-get install lego');
  }
});

test('what a lego that is not its own master does to be asked is nothing of ours', async () => {
  process.env.SALLYPORT_TEST_ONLY = 'not for lego';
  onTestFinished(() => {
    delete process.env.SALLYPORT_TEST_ONLY;
  });
  const directory = givenLego('#!/bin/sh\necho "$1 $HOME $SALLYPORT_TEST_ONLY$PWD $PATH"\n');
  expect(await askLego(join(directory, 'lego'), 'word')).toBe('word / / /usr/local/bin:/usr/bin:/bin\n');
});

test('types are those that a lego tells of, asked once, until it is another one', async () => {
  const directory = givenLego();
  const path = join(directory, 'lego');
  const types = createLegoTypes(() => findLego(directory));
  expect(await types.program()).toBe(path);
  expect((await types.find('cloud'))?.name).toBe('cloud');
  expect(await types.find('exec')).toBeUndefined();
  expect(await types.find('unknown')).toBeUndefined();
  expect((await types.all()).map(({ code }) => code)).toEqual(['cloud', 'other', 'third', 'fourth', 'fifth']);
  // Asked of itself it would be another program.
  const asked = async () => (await askLego('/bin/cat', `${path}.asked`)).split('\n').filter(Boolean);
  expect((await asked()).sort()).toEqual(['cloud', 'fifth', 'fourth', 'other', 'third']);
  writeFileSync(path, FOUR.replace('cloud, exec', 'fresh, exec'), { mode: 0o755 });
  utimesSync(path, 1, 1);
  expect((await types.all()).map(({ code }) => code)).toEqual(['fresh', 'other', 'third', 'fourth', 'fifth']);
  expect(await asked()).toHaveLength(10);
});

test('a lego behind a link is another one when the link leads elsewhere', async () => {
  const [one, other] = [givenLego(), givenLego(`${FOUR}# longer\n`)];
  const link = givenLego();
  const path = join(link, 'lego');
  const lead = (to: string) => {
    rmSync(path);
    symlinkSync(join(to, 'lego'), path);
  };
  lead(one);
  const { stamp } = await findLego(link);
  lead(other);
  const after = await findLego(link);
  expect(after.path).toBe(path);
  expect(after.stamp).not.toBe(stamp);
});

test('without a lego nothing is known, and it is said why', async () => {
  const types = createLegoTypes(() => findLego('/nowhere'));
  for (const asked of [types.program(), types.find('cloud'), types.all()]) {
    await expect(asked).rejects.toThrow('lego is not installed');
  }
});
