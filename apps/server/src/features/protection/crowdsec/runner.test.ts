import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alwaysAlone } from '@sallyport/store/database/alone';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { BOUNCER_KEY, scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { createRunner } from './runner.ts';

const given = async () => {
  const scripted = await scriptedCrowdsec();
  const { instance, program, scenario } = scripted;
  scenario('one');
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-runner-'));
  chmodSync(dataDir, 0o755);
  const told = { ready: [] as string[], damage: [] as string[], refused: [] as string[] };
  let lose = (): void => undefined;
  const released: string[] = [];
  let whenDamaged = (): void => undefined;
  const runner = createRunner({
    dataDir,
    port: instance.port,
    program,
    log: pino({ level: 'silent' }),
    configured: async () => ({ whitelist: [], choices: [], console: undefined }),
    alone(onLost) {
      lose = onLost;
      return { ...alwaysAlone, release: async () => void released.push('released') };
    },
    onReady: (key) => void told.ready.push(key),
    onDamage(reason) {
      told.damage.push(reason);
      whenDamaged();
    },
    onRefused: (name) => void told.refused.push(name),
    onAway: () => undefined,
  });
  onTestFinished(async () => {
    await runner.stop();
    // What another account owned.
    for (const at of [runner.account.state.at, `${runner.account.state.at}.damaged`]) {
      rmSync(at, { recursive: true, force: true });
    }
    rmSync(dataDir, { recursive: true, force: true });
  });
  const running = () => expect.poll(() => runner.state().status).toBe('running');
  return {
    ...scripted,
    runner,
    told,
    running,
    lose: () => lose(),
    released: () => released.length,
    onceDamaged: (work: () => void) => {
      whenDamaged = work;
    },
    /** Another one than this. */
    runsAnew: (pid: number | null) =>
      expect
        .poll(() => runner.state())
        .toMatchObject({ status: 'running', pid: expect.not.toSatisfy((now) => now === pid) }),
    database: join(runner.account.state.at, 'crowdsec.db'),
  };
};

/** Its local API, which the shell has none of. */
const answering = async (port: number): Promise<void> => {
  const server = createServer((_request, response) => void response.end('{"status":"up"}'));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
};

test('it runs when it is started, is ready once it answers, and ends when it is stopped', async () => {
  const { runner, told, instance, running, released } = await given();
  expect(runner.state()).toEqual({ status: 'stopped', pid: null, issue: null });
  const started = runner.start();
  await expect.poll(() => runner.state().status).toBe('starting');
  await running();
  expect(await runner.isReady()).toBe(false);
  await answering(instance.port);
  const { pid, lapi_ready } = await started;
  expect(lapi_ready).toBe(true);
  await expect.poll(() => told.ready).toEqual([BOUNCER_KEY]);
  expect(runner.state()).toEqual({ status: 'running', pid, issue: null });
  expect([runner.isRunning(), await runner.isReady(), runner.isReading()]).toEqual([true, true, true]);
  expect(runner.scenarios()).toEqual(['test/one']);
  expect(runner.credentials().machine_id).toBe('sallyport');
  // Who starts it once more gets the same.
  expect(await runner.start()).toEqual({ pid, lapi_ready: true });
  await runner.stop();
  expect(runner.state()).toEqual({ status: 'stopped', pid: null, issue: null });
  expect([runner.isRunning(), await runner.isReady(), runner.isReading(), released()]).toEqual([
    false,
    false,
    false,
    1,
  ]);
});

test('what is kept running is started again when it ends, and not once it was stopped', async () => {
  const { runner, running, runsAnew, lastWords, recovers } = await given();
  runner.keep();
  await running();
  const { pid } = runner.state();
  process.kill(Number(pid), 'SIGKILL');
  await expect.poll(() => runner.state().issue).toMatch(/^it was ended by SIGKILL/);
  await expect
    .poll(() => runner.state())
    .toMatchObject({ status: 'starting', pid: null, issue: expect.stringContaining('SIGKILL') });
  await runsAnew(pid);
  lastWords('level=fatal msg="no room"');
  process.kill(Number(runner.state().pid), 'SIGKILL');
  await expect.poll(() => runner.state().issue).toBe('it ended with code 1: no room');
  recovers();
  await running();
  expect(runner.state().issue).toBeNull();
  process.kill(Number(runner.state().pid), 'SIGKILL');
  await expect.poll(() => runner.state().status).toMatch(/failed|starting/);
  await runner.stop();
  expect(runner.state()).toEqual({ status: 'stopped', pid: null, issue: null });
});

test('why it can not be started is said to who asked, and it is not tried again', async () => {
  const { runner, lastWords, recovers, released, program } = await given();
  lastWords('level=fatal msg="no room"');
  await expect(runner.start()).rejects.toMatchObject({
    status: 503,
    message: "CrowdSec can't be started: it ended with code 1: no room",
  });
  expect(runner.state()).toEqual({ status: 'stopped', pid: null, issue: 'it ended with code 1: no room' });
  expect(released()).toBe(1);
  recovers();
  program.cli = '/nowhere';
  await expect(runner.start()).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining('is not installed'),
  });
  expect(runner.state()).toMatchObject({ status: 'not_installed', pid: null });
});

test('what is kept running is tried on, though somebody was told that it can not be started', async () => {
  const { runner, lastWords, recovers, running } = await given();
  lastWords('level=fatal msg="no room"');
  runner.keep();
  await expect.poll(() => runner.state().issue).toBe('it ended with code 1: no room');
  await expect(runner.start()).rejects.toMatchObject({ status: 503 });
  recovers();
  await running();
});

test('a scenario that it can not load is left out, and it starts', async () => {
  const { runner, running, told, scenario } = await given();
  scenario('bad', 'broken');
  scenario('worse', 'broken');
  runner.keep();
  await running();
  expect(told.refused.sort()).toEqual(['test/bad', 'test/worse']);
  expect(runner.scenarios()).toEqual(['test/one']);
  expect(runner.refusalOf('test/bad')).toContain('no such filter');
  expect(told.damage).toEqual([]);
});

test('a damaged database is set aside once for each start', async () => {
  const { runner, lastWords, recovers, told, running, onceDamaged, database } = await given();
  lastWords('level=fatal msg="database disk image is malformed"');
  await expect(runner.start()).rejects.toMatchObject({ status: 503 });
  expect(told.damage).toEqual(['it ended with code 1: database disk image is malformed']);
  onceDamaged(() => recovers());
  runner.keep();
  await running();
  expect(told.damage).toHaveLength(2);
  expect(existsSync(database)).toBe(true);
  expect(existsSync(join(`${runner.account.state.at}.damaged`, 'crowdsec.db'))).toBe(true);
});

test('one whose database is gone beside it, or that does not know us, begins anew', async () => {
  const { runner, told, running, runsAnew, database } = await given();
  runner.keep();
  await running();
  let { pid } = runner.state();
  // What is whole, and what says nothing of damage, goes on.
  await runner.look();
  await runner.mend(false);
  expect(runner.state().pid).toBe(pid);
  rmSync(database);
  await runner.look();
  expect(told.damage).toEqual(['the file of its database is gone']);
  await runsAnew(pid);
  expect(existsSync(database)).toBe(true);
  ({ pid } = runner.state());
  await runner.mend(true);
  expect(told.damage.at(-1)).toBe('it does not know the key that its decisions are read with');
  await runsAnew(pid);
  await runner.stop();
  // Nobody is there to be looked at.
  rmSync(database);
  await runner.look();
  await runner.mend(true);
  expect(told.damage).toHaveLength(2);
});

test('who loses its place ends it, for another node may start it, and tries again', async () => {
  const { runner, running, lose, runsAnew } = await given();
  runner.keep();
  await running();
  const { pid } = runner.state();
  lose();
  await expect.poll(() => runner.state().pid).not.toBe(pid);
  expect(
    execFileSync('sh', ['-c', `kill -0 ${pid} 2>/dev/null && echo alive || echo gone`], { encoding: 'utf8' }),
  ).toBe('gone\n');
  await runsAnew(pid);
});
