import { expect, test } from 'vitest';
import { createYaml } from './yaml.ts';

const yaml = createYaml();
const refusal = (text: string) =>
  yaml.read(text).then(
    () => 'no refusal',
    ({ status, message, details }: { status: number; message: string; details?: string }) => [status, message, details],
  );

test('a document is written with what it is, and read as it was', async () => {
  const content = 'SecRule ARGS "@rx a: \\d{3}" "id:1"\n'.repeat(20);
  const exclusion = { rule_id: 1, path: '/x' };
  const document = {
    sallyport: 1,
    settings: {},
    security: { waf_exclusions: [exclusion, exclusion] },
    rulesets: [{ name: 'no', content }],
  };
  const text = await yaml.write(document as Parameters<typeof yaml.write>[0]);
  expect(text).toMatch(/^# Configuration of Sallyport\. It holds no secrets, and no certificates; /);
  // Who reads it by eye has no references to follow.
  expect(text).not.toMatch(/[&*]a\d/);
  expect(await yaml.read(text)).toEqual(document);
});

test('one text at a time is read, each for who gave it; nothing is nothing', async () => {
  const texts = ['a: 1', '# nothing\n', 'just a text'];
  expect(await Promise.all(texts.map((text) => yaml.read(text)))).toEqual([{ a: 1 }, {}, 'just a text']);
});

test('what is no YAML is refused with its place, and with what stands there', async () => {
  expect(await refusal('sallyport: 1\nproxy_hosts:\n  - domain: "a.test\n')).toEqual([
    ...[400, expect.stringMatching(/^body is not valid YAML: line \d+, column \d+: \S/)],
    'the line is - domain: "a.test',
  ]);
  expect(await refusal('sallyport: 1\nsallyport: 1\n')).toEqual([
    ...[400, expect.stringContaining('line 2'), 'the line is sallyport: 1'],
  ]);
});

test('few lines that stand for much are refused', async () => {
  const lines = ['b0: &a0 [xxxxxxxxx,x,x,x,x,x,x,x,x]'];
  for (let depth = 1; depth < 9; depth += 1) lines.push(`b${depth}: &a${depth} [${Array(9).fill(`*a${depth - 1}`)}]`);
  expect(await refusal(lines.join('\n'))).toEqual([400, expect.stringContaining('alias'), undefined]);
  // Not so many aliases, each of something long.
  const long = `a: &a "${'x'.repeat(300_000)}"\nb: [${Array(90).fill('*a')}]\n`;
  expect(await refusal(long)).toEqual([400, 'body is not valid YAML: its aliases stand for too much', undefined]);
});
