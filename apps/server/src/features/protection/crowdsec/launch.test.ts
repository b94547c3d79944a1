import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { isStillRunning } from '@sallyport/deployment/processes';
import { alwaysAlone } from '@sallyport/store/database/alone';
import { expect, onTestFinished, test } from 'vitest';
import { BOUNCER_KEY, scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { type LaunchDeps, launch, waitUntilReady } from './launch.ts';
import type { CrowdsecProcess } from './process.ts';

const given = async (parts: Partial<LaunchDeps> = {}) => {
  const scripted = await scriptedCrowdsec();
  const { instance, scenario } = scripted;
  scenario('one');
  const happened: string[] = [];
  const started: CrowdsecProcess[] = [];
  const note = join(instance.directory, 'process.json');
  const deps: LaunchDeps = {
    instance,
    place: alwaysAlone,
    configure: async () => ({ rules: { whitelist: ['192.0.2.1'], scenarios: [] }, console: undefined }),
    isWanted: () => true,
    onPrepared: () => void happened.push(existsSync(join(instance.directory, 'key')) ? 'prepared' : 'too early'),
    onStarted(child) {
      happened.push('started');
      started.push(child);
      onTestFinished(() => child.stop(1));
    },
    ...parts,
  };
  return { ...scripted, happened, started, note, launch: () => launch(deps) };
};

/** Something that answers health checks on this port. */
const listenOn = async (port: number, status = 200): Promise<void> => {
  const server = createServer((_request, response) => void response.writeHead(status).end('{"status":"up"}'));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
};

test('it is started by what is configured, is noted, and stays; ready it is once it answers', async () => {
  const { launch: start, instance, happened, note, started } = await given();
  const { child, key } = await start();
  expect(key).toBe(BOUNCER_KEY);
  expect(happened).toEqual(['prepared', 'started']);
  expect(started).toEqual([child]);
  expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ pid: child.pid, startTime: child.startTime });
  expect(readFileSync(join(instance.directory, 'etc/parsers/s02-enrich/sallyport-whitelist.yaml'), 'utf8')).toContain(
    '192.0.2.1',
  );
  expect(child.isRunning()).toBe(true);
  const ready = waitUntilReady(child, instance.port);
  await listenOn(instance.port);
  expect(await ready).toBe(true);
});

test('it is not ready when it ends before', async () => {
  const { launch: start, instance } = await given();
  const { child } = await start();
  const ready = waitUntilReady(child, instance.port);
  await child.stop();
  expect(await ready).toBe(false);
  // Whatever answers there is another one.
  await listenOn(instance.port);
  expect(await waitUntilReady(child, instance.port)).toBe(false);
});

test('one that ends right away is no start, and says why', async () => {
  const { launch: start, lastWords, happened } = await given();
  lastWords('level=fatal msg="no room"');
  await expect(start()).rejects.toThrow(/^it ended with code 1: no room$/);
  expect(happened).toEqual(['prepared', 'started']);
});

test('nothing is started on two nodes, without the program, or where another one listens', async () => {
  const elsewhere = await given({ place: { ...alwaysAlone, take: async () => 'node b' } });
  await expect(elsewhere.launch()).rejects.toThrow('it runs on node b: of several nodes, only one may run it');
  const absent = await given();
  absent.program.cli = '/nowhere';
  await expect(absent.launch()).rejects.toThrow(/^CrowdSec is not installed/);
  const taken = await given();
  await listenOn(taken.instance.port);
  await expect(taken.launch()).rejects.toThrow(
    `port ${taken.instance.port} of 127.0.0.1 is used by another program; end that, or set SALLYPORT_CROWDSEC_PORT to a free one`,
  );
  expect([elsewhere, absent, taken].map(({ happened }) => happened)).toEqual([[], [], []]);
});

test('who is stopped before there is a process gets none, and who is stopped after it loses it', async () => {
  const before = await given({ isWanted: () => false });
  await expect(before.launch()).rejects.toThrow('it was stopped meanwhile');
  expect(before.happened).toEqual([]);
  let asked = 0;
  const after = await given({ isWanted: () => ++asked === 1 });
  await expect(after.launch()).rejects.toThrow(/^it (?:ended with code 0|was ended by SIGTERM)/);
  expect(after.started.map((child) => child.isRunning())).toEqual([false]);
});

test('a process that can not be noted is ended: nobody would know whose it is', async () => {
  const { launch: start, started, note } = await given();
  mkdirSync(join(note, 'in the way'), { recursive: true });
  await expect(start()).rejects.toThrow();
  for (const child of started) expect(isStillRunning(child)).toBe(false);
});
