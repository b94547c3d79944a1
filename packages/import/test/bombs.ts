import { parentPort } from 'node:worker_threads';
import { readCaddyfile, type SourceFile } from '../src/index.ts';

/** Run as a thread with little memory: reads what is meant to take long or much, and tells what became of it. */
export interface Outcome {
  name: string;
  hosts: number;
  errors: string[];
  cpuMs: number;
}

const MB = 1024 * 1024;
const times = (count: number, line: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => line(index)).join('');
/** `depth` snippets of which each imports the next one as `how` says, and a site that imports the first. */
const doubling = (depth: number, how: (next: string) => string, last: string, use: string): string =>
  `${times(depth, (index) => `(s${index}) {\n${how(`s${index + 1}`)}\n}\n`)}(s${depth}) {\n${last}\n}\na.test {\n import s0 ${use}\n}\n`;
const nobody = 'b.test {\n reverse_proxy b\n}\n';

/** Seeded, so that a run can be repeated. */
const noise = (length: number, from: number, to: number): string => {
  let state = 42;
  const codes = new Uint16Array(length);
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    codes[index] = from + ((state >>> 8) % (to - from));
  }
  return new TextDecoder('utf-16le').decode(codes);
};

const bombs: readonly [name: string, content: () => string, files?: () => SourceFile[]][] = [
  [
    '10,000 sites',
    () =>
      times(
        10_000,
        (n) =>
          `n${n}.test, www.n${n}.test {\n encode gzip\n reverse_proxy 10.0.${n >> 8}.${n & 255}:8080 {\n  header_up X-A b\n }\n}\n`,
      ),
  ],
  ['noise of letters', () => noise(10 * MB, 32, 127)],
  ['noise of bytes', () => noise(10 * MB, 0, 256)],
  ['one word', () => 'a'.repeat(10 * MB)],
  ['many words', () => 'a '.repeat(MB)],
  ['many lines that a backslash joins', () => 'a \\\n'.repeat(MB)],
  ['quotes', () => '"'.repeat(2 * MB)],
  ['comments', () => `${'#\n'.repeat(2 * MB)}${nobody}`],
  ['heredocs', () => '<<E\n'.repeat(MB)],
  ['one heredoc of many lines', () => `a <<E\n${'  x\n'.repeat(MB)}  E\n{\n`],
  ['variables', () => '{$a:x}'.repeat(MB)],
  ['variables without end', () => '{$'.repeat(MB)],
  ['100,000 nested braces', () => `a.test {\n${'b {\n'.repeat(100_000)}${'}\n'.repeat(100_001)}${nobody}`],
  ['100,000 nested braces, never closed', () => 'b {\n'.repeat(100_000)],
  [
    'snippets that double',
    () => doubling(60, (next) => ` import ${next}\n import ${next}`, ' header a b', '') + nobody,
  ],
  [
    'snippets of nothing that double',
    () => doubling(60, (next) => ` import ${next}\n import ${next}`, '', '') + nobody,
  ],
  [
    'arguments that double',
    () => doubling(60, (next) => ` import ${next} {args[0]}{args[0]}`, ' header a {args[0]}', 'xxxx') + nobody,
  ],
  [
    'lists of arguments that double',
    () => doubling(60, (next) => ` import ${next} {args[:]} {args[:]}`, ' header a {args[:]}', 'x y') + nobody,
  ],
  [
    'blocks that double',
    () =>
      doubling(60, (next) => ` import ${next} {\n  {block}\n  {block}\n }`, ' {block}', '{\n  header a b\n }') + nobody,
  ],
  ['snippets too deep', () => doubling(200, (next) => ` import ${next}`, ' header a b', '') + nobody],
  [
    'named routes that double',
    () =>
      `${times(19, (n) => `&(s${n}) {\n invoke s${n + 1}\n invoke s${n + 1}\n}\n`)}&(s19) {\n encode gzip\n}\n${nobody}${times(3, (n) => `n${n}.test {\n invoke s0\n}\n`)}`,
  ],
  [
    'a named route of many settings, invoked many times',
    () => `&(s) {\n${'log\n'.repeat(10_000)}}\n${nobody}a.test {\n${'invoke s\n'.repeat(50_000)}}\n`,
  ],
  ['a named route that invokes itself', () => `&(s) {\n invoke s\n}\n${nobody}a.test {\n invoke s\n}\n`],
  [
    'many named blocks',
    () =>
      `(s) {\n${times(3000, (n) => ` {blocks.x${n}}\n`)}}\na.test {\n reverse_proxy a\n import s {\n${times(30_000, (n) => `y${n} {\n header a b\n}\n`)} }\n}\n{\n`,
  ],
  [
    'many patterns for many files',
    () => `a.test {\n${times(100_000, (n) => `import x${n}*\n`)}}\n${nobody}`,
    () => Array.from({ length: 1000 }, (_, n) => ({ name: `f${n}`, content: '' })),
  ],
  [
    'one pattern for many files, many times',
    () => `a.test {\n${'import f*\n'.repeat(100_000)}}\n${nobody}`,
    () => Array.from({ length: 1000 }, (_, n) => ({ name: `f${n}`, content: '' })),
  ],
  [
    'many names by matchers',
    () =>
      `${nobody}*.a.test {\n${times(20_000, (n) => `@h${n} host h${n}.a.test\nhandle @h${n} {\nreverse_proxy h\n}\n`)}}\n`,
  ],
  [
    'many matchers, many blocks',
    () =>
      `a.test {\n${times(50_000, (n) => `@m${n} path /x\n`)}${times(3000, () => 'handle {\n@q path /b\nrespond @q x\n}\n')}}\n{\n`,
  ],
  ['an address of placeholders', () => `"${'{'.repeat(MB)}" "{${'a'.repeat(5 * MB)}}" {\n reverse_proxy b\n}\n`],
  ['many ranges of ports', () => `a.test {\n reverse_proxy ${'h:1-65535 '.repeat(100_000)}\n}\n{\n`],
  ['an order changed many times', () => `{\n${times(100_000, (n) => ` order p${n} first\n`)}}\n${nobody}`],
];

for (const [name, content, files] of bombs) {
  const sources = [{ name: 'Caddyfile', content: content() }, ...(files?.() ?? [])];
  const before = process.threadCpuUsage();
  const { hosts, errors } = readCaddyfile(sources);
  const { user, system } = process.threadCpuUsage(before);
  const outcome: Outcome = {
    name,
    hosts: hosts.length,
    errors: errors.slice(0, 3).map(({ message }) => message),
    cpuMs: Math.round((user + system) / 1000),
  };
  parentPort!.postMessage(outcome);
}
