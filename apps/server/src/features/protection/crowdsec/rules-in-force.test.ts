import { pino } from 'pino';
import { expect, test } from 'vitest';
import { scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { type Rules, tryRules } from './instance.ts';
import { type HubPreset, readHub } from './presets/hub.ts';
import { createRulesInForce } from './rules-in-force.ts';

const nothing = { whitelist: [], choices: [], console: undefined };
const off = (...presets: string[]) => presets.map((preset) => ({ preset: `test/${preset}`, applied: false }));
const on = (...presets: string[]) => presets.map((preset) => ({ preset: `test/${preset}`, applied: true }));

/** Each of these is a scenario of the hub; `broken` says what CrowdSec would refuse. */
const given = async (scenarios: Record<string, 'fine' | 'broken'>) => {
  const { program, instance, scenario, lastWords } = await scriptedCrowdsec();
  for (const [name, words] of Object.entries(scenarios)) scenario(name, words);
  const refused: [string, string][] = [];
  const lines: string[] = [];
  const tried: string[][] = [];
  const rules = createRulesInForce({
    hub: program.hub,
    tryRules(next: Rules) {
      tried.push(next.scenarios.map(({ name }) => name).sort());
      return tryRules(instance, next);
    },
    log: pino({}, { write: (line: string) => void lines.push(line) }),
    onRefused: (name, reason) => void refused.push([name, reason]),
  });
  const preset = (name: string): HubPreset => {
    const found = readHub(program.hub).presets.get(`test/${name}`);
    if (!found) throw new Error('no such preset');
    return found;
  };
  const names = ({ scenarios: chosen }: Rules) => chosen.map(({ name }) => name).sort();
  return { rules, refused, lines, tried, preset, names, scenario, lastWords, why: /it is broken in \S+-bad\.yaml/ };
};

const reasonFor = (name: string): string =>
  `it ended with code 1: while loading scenarios: it is broken in /x/etc/scenarios/test-${name}.yaml : no such filter`;

test('all that the hub has is in force, but for what was taken back, and nothing else', async () => {
  const { rules, names } = await given({ one: 'fine', two: 'fine' });
  expect(rules.names()).toEqual([]);
  expect(names(rules.chosen(nothing))).toEqual(['test/one', 'test/two']);
  const chosen = rules.chosen({ ...nothing, whitelist: ['192.0.2.1'], choices: off('one') });
  expect([names(chosen), chosen.whitelist]).toEqual([['test/two'], ['192.0.2.1']]);
  rules.put(chosen);
  expect(rules.names()).toEqual(['test/two']);
});

test('what a process could not load is left out, told once, and tried again by the next one', async () => {
  const { rules, refused, lines, names } = await given({ one: 'fine', bad: 'fine' });
  rules.put(rules.chosen(nothing));
  for (const reason of ['out of memory', reasonFor('none'), reasonFor('bad').replace('loading scenarios', 'reading')])
    expect(rules.leaveOut(reason)).toBe(false);
  expect(rules.leaveOut(reasonFor('bad'))).toBe(true);
  expect(rules.leaveOut(reasonFor('bad'))).toBe(false);
  expect(refused).toEqual([['test/bad', reasonFor('bad')]]);
  expect(rules.refusalOf('test/bad')).toBe(reasonFor('bad'));
  expect(rules.refusalOf('test/one')).toBeUndefined();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 40, scenario: 'test/bad' }]);
  expect(names(rules.chosen(nothing))).toEqual(['test/one']);
  rules.forgetRefusals();
  expect(rules.refusalOf('test/bad')).toBeUndefined();
  expect(names(rules.chosen(nothing))).toEqual(['test/bad', 'test/one']);
});

test('what is not in force can not be what ended it', async () => {
  const { rules } = await given({ one: 'fine', bad: 'fine' });
  rules.put(rules.chosen({ ...nothing, choices: off('bad') }));
  expect(rules.leaveOut(reasonFor('bad'))).toBe(false);
});

test('for a process that runs, what is new is tried first, and what can not be loaded is left out', async () => {
  const { rules, names, tried, refused, why } = await given({
    one: 'fine',
    two: 'fine',
    bad: 'broken',
    worse: 'broken',
  });
  rules.put(rules.chosen({ ...nothing, choices: off('two', 'bad', 'worse') }));
  const next = await rules.loadable({ ...nothing, whitelist: ['192.0.2.1'], choices: [] });
  expect([names(next), next.whitelist]).toEqual([['test/one', 'test/two'], ['192.0.2.1']]);
  expect(tried).toHaveLength(3);
  expect(refused.map(([name]) => name).sort()).toEqual(['test/bad', 'test/worse']);
  expect(rules.refusalOf('test/bad')).toMatch(why);
  // Nothing but what it has: there is nothing to try.
  rules.put(next);
  expect(names(await rules.loadable({ ...nothing, choices: off('one') }))).toEqual(['test/two']);
  expect(tried).toHaveLength(3);
});

test('where it does not say which one is at fault, it goes on with what it has', async () => {
  const { rules, names, lastWords, lines } = await given({ one: 'fine', two: 'fine' });
  rules.put(rules.chosen({ ...nothing, choices: off('two') }));
  lastWords('level=fatal msg="out of memory"');
  const next = await rules.loadable({ ...nothing, whitelist: ['192.0.2.1'] });
  expect([names(next), next.whitelist]).toEqual([['test/one'], ['192.0.2.1']]);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, reason: 'out of memory' }]);
  expect(rules.refusalOf('test/two')).toBeUndefined();
});

test('a preset that is checked is refused in its words, and nothing is changed', async () => {
  const { rules, preset, tried, names, refused } = await given({ one: 'fine', two: 'fine', bad: 'broken' });
  rules.put(rules.chosen({ ...nothing, choices: off('two', 'bad') }));
  await expect(rules.check(preset('bad'), { whitelist: [], choices: off('two') })).rejects.toMatchObject({
    status: 422,
    message: expect.stringMatching(
      /^CrowdSec refuses test\/bad: .*it is broken in \S+test-bad\.yaml : no such filter$/,
    ),
  });
  expect(refused).toEqual([]);
  expect(rules.refusalOf('test/bad')).toBeUndefined();
  expect(tried).toEqual([['test/bad', 'test/one']]);
  await rules.check(preset('two'), { whitelist: [], choices: off('bad') });
  expect(tried).toHaveLength(2);
  // What it took when it was tried is not tried again.
  await rules.check(preset('two'), { whitelist: [], choices: off('bad') });
  expect(names(await rules.loadable({ ...nothing, choices: off('bad') }))).toEqual(['test/one', 'test/two']);
  expect(tried).toHaveLength(2);
});

test('another scenario than the one that is checked is left out on the way', async () => {
  const { rules, preset, refused, tried } = await given({ one: 'fine', two: 'fine', bad: 'broken' });
  rules.put(rules.chosen({ ...nothing, choices: off('one', 'two', 'bad') }));
  await rules.check(preset('two'), { whitelist: [], choices: on('two') });
  expect(refused.map(([name]) => name)).toEqual(['test/bad']);
  expect(tried).toHaveLength(2);
});

test('one that it refused before is tried again when it is checked, and stays refused when it still is', async () => {
  const { rules, preset, scenario, refused } = await given({ one: 'fine', bad: 'broken' });
  rules.put(rules.chosen(nothing));
  rules.leaveOut(reasonFor('bad'));
  rules.put(rules.chosen(nothing));
  await expect(rules.check(preset('bad'), { whitelist: [], choices: [] })).rejects.toMatchObject({ status: 422 });
  expect(rules.refusalOf('test/bad')).toBe(reasonFor('bad'));
  scenario('bad', 'fine');
  await rules.check(preset('bad'), { whitelist: [], choices: [] });
  expect(rules.refusalOf('test/bad')).toBeUndefined();
  expect(refused).toHaveLength(1);
});
