import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import type { Configured } from './configured.ts';
import { followConfigured } from './follow-configured.ts';
import { prepareInstance, tryRules } from './instance.ts';
import { readHub } from './presets/hub.ts';
import { type CrowdsecProcess, startProcess } from './process.ts';
import { createRulesInForce } from './rules-in-force.ts';

const CONSOLE = { login: 'machine', password: 'secret', url: 'https://console.test' };

/** A process that reads what was stored at its start. */
const given = async () => {
  const { instance, program, scenario } = await scriptedCrowdsec();
  scenario('one');
  scenario('two');
  let meanwhile = async (): Promise<void> => undefined;
  const rules = createRulesInForce({
    hub: program.hub,
    async tryRules(tried) {
      await meanwhile();
      return tryRules(instance, tried);
    },
    log: pino({ level: 'silent' }),
    onRefused: () => undefined,
  });
  let stored: Configured = { whitelist: [], choices: [], console: undefined };
  const anew: CrowdsecProcess[] = [];
  let running: CrowdsecProcess | undefined;
  const following = followConfigured({
    instance,
    rules,
    configured: async () => stored,
    running: () => running,
    startAnew: async (child) => void anew.push(child),
  });
  const start = async (): Promise<CrowdsecProcess> => {
    const { rules: first, console } = await following.atStart();
    await prepareInstance(instance, first, console);
    const child = await startProcess(instance);
    onTestFinished(() => child.stop());
    running = child;
    void child.ended.then(() => {
      if (running === child) running = undefined;
    });
    return child;
  };
  return {
    following,
    rules,
    anew,
    start,
    scenario,
    preset: (name: string) => {
      const found = readHub(program.hub).presets.get(name);
      if (!found) throw new Error(`no preset ${name}`);
      return found;
    },
    store: (next: Partial<Configured>) => {
      stored = { ...stored, ...next };
    },
    /** Done when something is about to be tried. */
    whenTried: (work: () => Promise<void>) => {
      meanwhile = work;
    },
    written: () => readdirSync(join(instance.directory, 'etc/scenarios')).sort(),
    whitelist: () => readFileSync(join(instance.directory, 'etc/parsers/s02-enrich/sallyport-whitelist.yaml'), 'utf8'),
    console: () => existsSync(join(instance.directory, 'console/credentials.yaml')),
  };
};

const without = (preset: string) => [{ preset, applied: false }];

test('a process that starts is told what is stored by then', async () => {
  const { following, rules, store } = await given();
  store({ whitelist: ['192.0.2.1'], choices: without('test/one'), console: CONSOLE });
  expect(await following.atStart()).toMatchObject({
    rules: { whitelist: ['192.0.2.1'], scenarios: [{ name: 'test/two' }] },
    console: CONSOLE,
  });
  expect(rules.names()).toEqual(['test/two']);
});

test('one that reads is told of a change by a signal, and of nothing else', async () => {
  const { following, rules, store, start, written, whitelist, anew } = await given();
  const child = await start();
  await expect.poll(child.isReading).toBe(true);
  store({ whitelist: ['192.0.2.1'] });
  // As long as it does not read, the signal would end it.
  child.reload();
  await following.follow();
  expect(whitelist()).not.toContain('192.0.2.1');
  await expect.poll(child.isReading).toBe(true);
  await following.follow();
  expect(whitelist()).toContain('192.0.2.1');
  expect(child.isReading()).toBe(false);
  await expect.poll(child.isReading).toBe(true);
  await following.follow();
  expect(child.isReading()).toBe(true);

  store({ choices: without('test/one') });
  await following.follow();
  expect(written()).toEqual(['test-two.yaml']);
  expect(rules.names()).toEqual(['test/two']);
  await expect.poll(child.isReading).toBe(true);
  expect(anew).toEqual([]);
});

test('whom it tells it learns by a new start', async () => {
  const { following, store, start, console, anew } = await given();
  const child = await start();
  await expect.poll(child.isReading).toBe(true);
  store({ console: CONSOLE });
  await following.follow();
  expect([console(), anew]).toEqual([true, [child]]);
  expect(child.isReading()).toBe(true);
  const next = await start();
  await expect.poll(next.isReading).toBe(true);
  await following.follow();
  expect(anew).toHaveLength(1);
  store({ console: undefined });
  await following.follow();
  expect([console(), anew]).toEqual([false, [child, next]]);
});

test('nobody is told where nothing runs, and what has ended is told nothing', async () => {
  const { following, store, start, written, whitelist } = await given();
  store({ choices: without('test/one') });
  await following.follow();
  const child = await start();
  await expect.poll(child.isReading).toBe(true);
  await child.stop();
  store({ whitelist: ['192.0.2.1'], choices: [] });
  await following.follow();
  expect(written()).toEqual(['test-two.yaml']);
  expect(whitelist()).not.toContain('192.0.2.1');
});

test('a process that ends while it is found out what it can load gets no signal', async () => {
  const { following, store, start, rules, scenario, whenTried } = await given();
  const child = await start();
  await expect.poll(child.isReading).toBe(true);
  // Tried first, for it does not have it yet.
  scenario('three');
  store({ whitelist: ['192.0.2.1'] });
  whenTried(() => child.stop());
  await following.follow();
  expect(rules.names().sort()).toEqual(['test/one', 'test/two']);
});

test('what is checked is checked with the whitelist that is stored', async () => {
  const { following, preset, scenario, rules } = await given();
  scenario('bad', 'broken');
  await expect(following.check(preset('test/bad'), [])).rejects.toMatchObject({ status: 422 });
  await following.check(preset('test/one'), without('test/bad'));
  expect(rules.refusalOf('test/bad')).toBeUndefined();
});
