import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { readCaddyfile } from '../src/index.ts';
import type { Outcome } from './bombs.ts';
import { readCorpus } from './corpus.ts';

/** Twenty times what the slowest takes; what grows with the square of its size takes minutes. */
const MOST_CPU_MS = 15_000;
const MEMORY_MB = 256;

test('what is meant to take long or much ends soon, with a clear error and bounded memory', async () => {
  const outcomes: Outcome[] = [];
  const worker = new Worker(new URL('bombs.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.on('message', (outcome: Outcome) => outcomes.push(outcome));
  // Rejects when the thread had to end for want of memory.
  expect(await once(worker, 'exit')).toEqual([0]);
  const [sites, ...bombs] = outcomes;
  expect(sites).toMatchObject({ name: '10,000 sites', hosts: 10_000, errors: [] });
  expect(bombs.length).toBe(30);
  expect(outcomes.filter(({ cpuMs }) => cpuMs > MOST_CPU_MS)).toEqual([]);
  // Comments are no error.
  expect(bombs.filter(({ errors }) => errors.length === 0).map(({ name }) => name)).toEqual([
    ...['comments', 'an address of placeholders'],
  ]);
  // What stands beside a bomb is read, unless there is no room left for it.
  const beside = bombs.filter(({ hosts }) => hosts > 0).map(({ name }) => name);
  expect(beside).toEqual(
    expect.arrayContaining(['100,000 nested braces', 'snippets too deep', 'many names by matchers']),
  );
}, 300_000);

/** Numbers that look random and are the same in each run. */
const dice = (seed: number): ((sides: number) => number) => {
  let state = seed;
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
};

const SNIPPETS = [
  ...[
    '{',
    '}',
    '{\n',
    '\n}\n',
    '"',
    '`',
    '\\',
    '\\\n',
    '#',
    '\n',
    ' ',
    '<<E\n',
    '\nE',
    '{$',
    '{$A:',
    '@',
    ',',
    '/',
    ':',
    '://',
  ],
  ...[
    '{args[0]}',
    '{args[:]}',
    '{block}',
    '{blocks.x}',
    'import ',
    'import *',
    '(s)',
    '&(s)',
    '__proto__',
    'constructor',
  ],
  ...[
    'reverse_proxy ',
    'handle ',
    'to ',
    'transport ',
    'dynamic ',
    'header ',
    'tls ',
    '\ufeff',
    '\u0000',
    '\ud800',
    '[::',
    '-',
  ],
];

const mutate = (text: string, others: readonly string[], roll: (sides: number) => number): string => {
  let result = text;
  for (let count = 1 + roll(4); count > 0; count--) {
    const [at, length] = [roll(result.length + 1), roll(12)];
    const other = others[roll(others.length)]!;
    const put = [
      () => '',
      () => SNIPPETS[roll(SNIPPETS.length)]!,
      () => String.fromCharCode(roll(roll(2) ? 128 : 65_536)),
      () => result.slice(at, at + length).repeat(1 + roll(4)),
      () => other.slice(roll(other.length), roll(other.length)),
    ][roll(5)]!();
    result = result.slice(0, at) + put + result.slice(at + (roll(2) ? length : 0));
  }
  return result;
};

test('whatever is read, nothing is thrown, and what is said has a place', () => {
  const cases = readCorpus();
  const texts = cases.map(({ content }) => content);
  const roll = dice(20_260_122);
  const prototype = Object.getOwnPropertyNames(Object.prototype);
  let [hosts, errors] = [0, 0];
  for (let round = 0; round < 5000; round++) {
    const { content, files } = cases[round % cases.length]!;
    const sources = [{ name: 'Caddyfile', content: mutate(content, texts, roll) }];
    for (const file of files)
      sources.push({ ...file, content: roll(2) ? file.content : mutate(file.content, texts, roll) });
    const reading = readCaddyfile(sources);
    hosts += reading.hosts.length;
    errors += reading.errors.length;
    const linesOf = new Map(sources.map(({ name, content: text }) => [name, text.split('\n').length]));
    const said = [...reading.errors, ...reading.warnings, ...reading.staticFiles, ...reading.hosts];
    for (const { file, line, column = 1 } of [...said, ...reading.hosts.flatMap((host) => host.warnings)]) {
      const lines = linesOf.get(file) ?? 0;
      if (!(line >= 1 && line <= lines && column >= 1))
        expect.fail(`${file}:${line}:${column} in ${JSON.stringify(sources)}`);
    }
    expect(reading.errors.every(({ text = '' }) => text.length <= 200)).toBe(true);
    expect(reading.hosts.every((host) => host.domain !== '' && host.forward_host !== '' && host.forward_port > 0)).toBe(
      true,
    );
  }
  // Neither did nothing come through nor everything.
  expect(hosts).toBeGreaterThan(1000);
  expect(errors).toBeGreaterThan(1000);
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototype);
}, 120_000);
