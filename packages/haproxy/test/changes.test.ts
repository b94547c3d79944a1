import { readFile, readlink } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';
import { type DesiredHost, dataPlaneFiles } from '../src/index.ts';
import { createAdminSocket } from '../src/runtime/admin-socket.ts';
import { createMapCommands } from '../src/runtime/maps.ts';

const many = (count: number, port: number, prefix = 'host'): DesiredHost[] =>
  Array.from({ length: count }, (_, index) =>
    givenHost({ names: [`${prefix}${index}.example.com`], origin: { port } }),
  );

describe('changes', () => {
  let one: Origin;
  let two: Origin;
  let plane: RunningDataPlane;
  beforeAll(async () => {
    [one, two] = await Promise.all([startEchoOrigin('one'), startEchoOrigin('two')]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop()]);
  });
  beforeEach(async () => {
    plane = await startDataPlane({}, { overlayLimit: 100 });
  });
  afterEach(() => plane.stop());

  const whoAnswers = async (host: string): Promise<string> => {
    const answer = await ask({ port: plane.httpPort, host });
    return answer.status === 200 ? answer.json<Echo>().origin : String(answer.status);
  };

  const restart = async (): Promise<void> => {
    plane.haproxy.kill('SIGTERM');
    await plane.haproxy.exited;
    await plane.restartHaproxy();
  };

  test('1,000 changes under constant load: no request fails, and each change is live when it is answered', async () => {
    const steady = givenHost({ names: ['steady.example.com'], origin: one });
    const moving = givenHost({ names: ['moving.example.com'], origin: one });
    await plane.serve(steady, moving, ...many(50, one.port, 'other'));
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    const failures: unknown[] = [];
    let requests = 0;
    let isDone = false;
    const client = async (): Promise<void> => {
      while (!isDone) {
        await new Promise<void>((resolve) => {
          get({ port: plane.httpPort, agent, headers: { host: 'steady.example.com' } }, (response) => {
            if (response.statusCode !== 200) failures.push(response.statusCode);
            response.resume().on('end', resolve);
            response.on('error', (error) => {
              failures.push(error);
              resolve();
            });
          }).on('error', (error) => {
            failures.push(error);
            resolve();
          });
        });
        requests++;
      }
    };
    const clients = Promise.all(Array.from({ length: 2 }, client));
    for (let change = 0; change < 1_000; change++) {
      const target = change % 2 ? one : two;
      await plane.serve({ ...moving, origin: { ...moving.origin, port: target.port } });
      if (change % 50 === 0) expect(await whoAnswers('moving.example.com')).toBe(target.name);
      if (change % 3 === 0) await plane.serve(givenHost({ names: [`new${change}.example.com`], origin: target }));
    }
    isDone = true;
    await clients;
    agent.destroy();
    expect(failures).toEqual([]);
    expect(requests).toBeGreaterThan(100);
    // More than the overlay may hold: some of it was folded into the base meanwhile, under the same load.
    expect(plane.dataPlane.status().overlayEntries).toBeLessThan(1_000 / 3);
    expect(plane.events.filter(({ type }) => type.endsWith('failed'))).toEqual([]);
  }, 60_000);

  test('a large change is applied whole', async () => {
    const hosts = many(5_000, one.port);
    await plane.serve(...hosts);
    expect(await whoAnswers('host0.example.com')).toBe('one');
    expect(await whoAnswers('host4999.example.com')).toBe('one');
    await plane.dataPlane.applyHosts(hosts.slice(0, 4_000).map(({ id }) => ({ type: 'remove', id })));
    expect(await whoAnswers('host0.example.com')).toBe('404');
    expect(await whoAnswers('host4999.example.com')).toBe('one');
    expect(plane.dataPlane.status()).toMatchObject({ hosts: 1_000, names: 1_000 });
  });

  test('what is acknowledged survives the death of HAProxy, whatever was folded', async () => {
    await plane.serve(...many(150, one.port));
    const [first, second] = [
      givenHost({ names: ['a.example.com'], origin: one }),
      givenHost({ names: ['b.example.com'], origin: one }),
    ];
    await plane.serve(first, second);
    await plane.serve({ ...first, origin: { ...first.origin, port: two.port } });
    await plane.dataPlane.applyHosts([{ type: 'remove', id: second.id }]);
    await restart();
    expect(await whoAnswers('a.example.com')).toBe('two');
    expect(await whoAnswers('b.example.com')).toBe('404');
    expect(await whoAnswers('host149.example.com')).toBe('one');
    expect(plane.events.at(-1)).toMatchObject({ type: 'connected', driftedEntries: 0 });
  });

  test('while HAProxy is down a change says so, and follows when it is back', async () => {
    plane.haproxy.kill('SIGTERM');
    await plane.haproxy.exited;
    const host = givenHost({ names: ['later.example.com'], origin: one });
    const { revision } = plane.dataPlane.status();
    const outcomes = await plane.dataPlane.applyHosts([{ type: 'put', host }]);
    expect(outcomes.get(host.id)).toMatchObject({
      applied: false,
      issue: expect.stringContaining('HAProxy is not running'),
    });
    expect(plane.dataPlane.status().revision).toBe(revision);
    // Enough of them that they are folded without HAProxy.
    for (const extra of many(120, one.port)) await plane.dataPlane.applyHosts([{ type: 'put', host: extra }]);
    await plane.restartHaproxy();
    expect(await plane.dataPlane.readBack(host.id)).toEqual({ applied: true });
    expect(await whoAnswers('later.example.com')).toBe('one');
    expect(await whoAnswers('host119.example.com')).toBe('one');
    await plane.serve(host);
    expect(plane.dataPlane.status().revision).toBe(revision + 1);
  });

  test('kill -9 of the worker or of the master ends both, and a new start serves everything again', async () => {
    await plane.serve(givenHost({ names: ['a.example.com'], origin: one }));
    const { connection } = plane.dataPlane.status();
    if (connection.state !== 'connected') throw new Error('not connected');
    const gone = plane.nextEvent('disconnected');
    process.kill(connection.pid, 'SIGKILL');
    expect(await plane.haproxy.exited).not.toMatchObject({ code: 0 });
    await gone;
    expect(plane.dataPlane.status().connection.state).toBe('disconnected');
    await plane.restartHaproxy();
    expect(await whoAnswers('a.example.com')).toBe('one');

    const worker = plane.dataPlane.status().connection;
    if (worker.state !== 'connected') throw new Error('not connected');
    plane.haproxy.kill('SIGKILL');
    await plane.haproxy.exited;
    await expect.poll(() => readlink(`/proc/${worker.pid}/exe`).catch(() => 'gone')).toBe('gone');
    await plane.restartHaproxy();
    expect(await whoAnswers('a.example.com')).toBe('one');
  });

  test('a reload keeps every change, also those that came while it was under way', async () => {
    await plane.serve(...many(150, one.port));
    const pids = new Set<number>();
    for (let round = 0; round < 3; round++) {
      const back = plane.nextEvent('connected');
      const reloaded = plane.dataPlane.reload(async () => plane.haproxy.kill('SIGUSR2'));
      await plane.serve(givenHost({ names: [`during${round}.example.com`], origin: two }));
      await reloaded;
      pids.add((await back).pid);
      await expect.poll(() => whoAnswers(`during${round}.example.com`)).toBe('two');
    }
    await expect.poll(() => whoAnswers('during0.example.com')).toBe('two');
  });

  test('a reconcile makes whatever HAProxy holds into what is desired', async () => {
    const hosts = many(150, one.port);
    await plane.dataPlane.reconcile({ hosts, certificates: [] });
    // Somebody else at the runtime socket: an entry changed, one removed, one added, one in the overlay.
    const socket = createAdminSocket({ path: plane.settings.adminSocket });
    const base = createMapCommands(socket, dataPlaneFiles.hostsMap);
    const overlay = createMapCommands(socket, dataPlaneFiles.overlayMap);
    await base.set('host1.example.com', `0|127.0.0.1|${two.port}||1`);
    await base.remove('host2.example.com');
    await base.add('intruder.example.com', `0|127.0.0.1|${two.port}||1`);
    await overlay.add('host3.example.com', 'none');
    expect(await plane.dataPlane.readBack(hosts[3]?.id ?? -1)).toMatchObject({ applied: false });
    const report = await plane.dataPlane.reconcile({ hosts: hosts.slice(0, 149), certificates: [] });
    expect(report).toMatchObject({ applied: true, hosts: 149, changedNames: 1 });
    expect(report.driftedEntries).toBeGreaterThanOrEqual(4);
    expect(await Promise.all([1, 2, 3].map((index) => whoAnswers(`host${index}.example.com`)))).toEqual([
      'one',
      'one',
      'one',
    ]);
    expect(await whoAnswers('intruder.example.com')).toBe('404');
    expect(await whoAnswers('host149.example.com')).toBe('404');
    expect(await plane.dataPlane.reconcile({ hosts: hosts.slice(0, 149), certificates: [] })).toMatchObject({
      driftedEntries: 0,
      changedNames: 0,
    });
  });

  test('one bad host harms nobody', async () => {
    const good = givenHost({ names: ['good.example.com'], origin: one });
    const bad = givenHost({ names: ['bad.example.com'], origin: { port: 80, address: 'no.address' } });
    const thief = givenHost({ names: ['thief.example.com', 'good.example.com'], origin: two });
    const report = await plane.dataPlane.reconcile({ hosts: [bad, good, thief], certificates: [] });
    expect(report.applied).toBe(true);
    expect([...report.quarantinedHosts]).toEqual([
      [bad.id, 'the origin\'s address is not an IP address: "no.address"'],
      [thief.id, `another host (id ${good.id}) already has good.example.com`],
    ]);
    expect(await whoAnswers('good.example.com')).toBe('one');
    expect(await whoAnswers('thief.example.com')).toBe('404');
    expect(await plane.dataPlane.readBack(bad.id)).toMatchObject({ applied: false });
  });

  test('the files alone hold everything, readable by nobody else', async () => {
    await plane.serve(...many(25, one.port));
    const text = await readFile(join(plane.directory, dataPlaneFiles.overlayMap), 'utf8');
    const base = await readFile(join(plane.directory, dataPlaneFiles.hostsMap), 'utf8');
    for (let index = 0; index < 25; index++) expect(text + base).toContain(`host${index}.example.com `);
  });
});
