import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isStillRunning } from '@sallyport/deployment/processes';
import { expect, onTestFinished, test } from 'vitest';
import { scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { startProcess } from './process.ts';

const given = async (script?: string) => {
  const { instance, directory } = await scriptedCrowdsec();
  if (script !== undefined) writeFileSync(join(directory, 'crowdsec'), `#!/bin/sh\n${script}\n`);
  const child = await startProcess(instance);
  onTestFinished(() => child.stop(1));
  return { child, instance };
};

test('it is there, reads once it says so, reads anew when it is told to, and ends', async () => {
  const { child } = await given();
  expect(child.isRunning()).toBe(true);
  expect(isStillRunning(child)).toBe(true);
  await expect.poll(child.isReading).toBe(true);
  child.reload();
  expect(child.isReading()).toBe(false);
  await expect.poll(child.isReading).toBe(true);
  await child.stop();
  expect([child.isRunning(), child.isReading(), isStillRunning(child)]).toEqual([false, false, false]);
  expect(await child.ended).toMatch(/^it ended with code 0: Starting processing data$/);
  // Once more is no fault.
  await child.stop();
});

test('it does not read before it says so', async () => {
  const { child } = await given('echo "Starting something else" >&2; echo there >&2; while :; do sleep 0.2; done');
  await expect.poll(() => child.lastSaid((line) => line === 'there')).toBe('there');
  expect(child.isReading()).toBe(false);
});

test.each([
  ['exit 3', 'it ended with code 3'],
  ['kill -9 $$', 'it was ended by SIGKILL'],
  ['echo "level=fatal msg=\\"no \\\\\\"room\\\\\\"\\"" >&2; echo last >&2; exit 1', 'it ended with code 1: no "room"'],
  ['echo first >&2; echo last >&2; exit 1', 'it ended with code 1: last'],
])('why it ended: %s', async (script, reason) => {
  const { child } = await given(script);
  expect(await child.ended).toBe(reason);
  expect(child.isRunning()).toBe(false);
});

test('of its last forty lines the last one that is asked for is found, no longer than it need be', async () => {
  const { child } = await given(
    'for i in $(seq 1 41); do echo "line $i" >&2; done; printf "%03000d\\n" 0 >&2; echo the end >&2; while :; do sleep 0.2; done',
  );
  await expect.poll(() => child.lastSaid((line) => line === 'the end')).toBe('the end');
  const said: string[] = [];
  child.lastSaid((line) => {
    said.unshift(line);
    return false;
  });
  expect(said).toHaveLength(40);
  expect(said[0]).toBe('line 4');
  expect(said.at(-2)).toBe('0'.repeat(2_000));
  expect(child.lastSaid((line) => line.startsWith('line '))).toBe('line 41');
  expect(child.lastSaid(() => false)).toBeUndefined();
});

test('it is started with the configuration that its account sees, and gets nothing of our environment', async () => {
  process.env.SALLYPORT_TEST_SECRET = 'a secret of ours';
  onTestFinished(() => void delete process.env.SALLYPORT_TEST_SECRET);
  const { child, instance } = await given('echo "$@" >&2; pwd >&2; env | sort | tr "\\n" " " >&2');
  await child.ended;
  const line = (is: (text: string) => boolean) => child.lastSaid(is);
  expect(line((text) => text.startsWith('-c'))).toBe(`-c ${instance.directory}/etc/config.yaml`);
  expect(line((text) => text === '/')).toBe('/');
  const environment = line((text) => text.includes('PATH=')) ?? '';
  expect(environment).toMatch(/LC_ALL=C .*PATH=\/usr\/sbin:\/usr\/bin:\/sbin:\/bin .*TZ=UTC/);
  expect(environment).not.toContain('SECRET');
});

test('a program that can not be started at all is said so', async () => {
  const { instance } = await scriptedCrowdsec();
  const account = { ...instance.account, wrap: (): [string, string[]] => [join(instance.directory, 'none'), []] };
  await expect(startProcess({ ...instance, account })).rejects.toThrow(/none can't be started/);
  chmodSync(instance.program.daemon, 0o644);
  expect(await (await startProcess(instance)).ended).toMatch(/^it ended with code 12[67]: /);
});
