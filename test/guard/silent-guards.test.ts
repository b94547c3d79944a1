import { mkdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { dirname, join } from 'node:path';
import { guardFiles } from '@sallyport/deployment/places';
import { type Actions, createSpopAgent, type SpopAgent } from '@sallyport/spop';
import { afterEach, describe, expect, test } from 'vitest';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { ask } from '../support/http-client.ts';
import { startOrigin, type TestOrigin } from './support/origin.ts';

const TIMEOUT_MS = 2_000;
/** Enough to have either half asked first by lot, now and then. */
const REQUESTS = 4;
/** What is in the place of a guard: it reads questions and says nothing, or is not there. (One that answers without a verdict beside a silent one: docs/limits.md.) */
type Kind = 'silent' | 'gone';

const silent = (): Promise<Actions> => new Promise(() => undefined);

describe('guards that give no verdict', () => {
  let guarded: Guarded;
  let origin: TestOrigin;
  let agents: (SpopAgent | undefined)[] = [];
  const relays: Server[] = [];
  /** Requests that reached a relay. */
  let relayed = 0;

  const startRelay = async (index: number): Promise<void> => {
    const server = createServer((request, response) => {
      if (request.url !== '/health') relayed++;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(guardFiles(guarded.dataDir, index).relay, resolve));
    relays.push(server);
  };

  const startAgent = async (index: number, kind: Kind): Promise<SpopAgent | undefined> => {
    if (kind === 'gone') return undefined;
    const path = guardFiles(guarded.dataDir, index).agent;
    mkdirSync(dirname(path), { recursive: true });
    const agent = createSpopAgent({ path, onNotify: silent });
    await agent.listen();
    return agent;
  };

  const isUp = async (backend: string, server: string): Promise<boolean> => {
    const lines = (await guarded.command(`show servers state ${backend}`)).split('\n').map((line) => line.split(' '));
    return lines.find((fields) => fields[3] === server)?.[5] === '2';
  };

  const start = async (...given: [Kind, Kind]): Promise<void> => {
    relayed = 0;
    origin = await startOrigin();
    guarded = await startGuarded({ withoutGuards: true, timeoutMs: TIMEOUT_MS });
    await guarded.serve({ origin: { port: origin.port } as never });
    agents = await Promise.all(given.map((kind, index) => startAgent(index, kind)));
    await Promise.all(given.map((_, index) => startRelay(index)));
    for (const [index, agent] of agents.entries()) {
      const half = index === 0 ? 'guards_even' : 'guards_odd';
      if (agent) await expect.poll(() => agent.stats.healthChecks).toBeGreaterThan(0);
      await expect.poll(() => isUp(half, `guard-${index}`)).toBe(agent !== undefined);
      await expect.poll(() => isUp('relay', `relay-${index}`)).toBe(true);
    }
  };

  afterEach(async () => {
    await Promise.all(agents.map((agent) => agent?.stop({ timeoutMs: 1 })));
    for (const relay of relays.splice(0)) {
      relay.closeAllConnections();
      await new Promise((resolve) => relay.close(resolve));
    }
    await guarded.stop();
    await origin.stop();
  });

  const bodies = { 'questions about requests': undefined, 'long bodies': 'a='.padEnd(40_000, 'x') };

  for (const [what, body] of Object.entries(bodies)) {
    test.each<[Kind, Kind]>([
      ['silent', 'silent'],
      ['silent', 'gone'],
      ['gone', 'silent'],
    ])(`${what}: a guard that says nothing is waited for once, whoever else there is (%s, %s)`, async (...given) => {
      await start(...given);
      // All at once: each waits for its own.
      const asked = Array.from({ length: REQUESTS }, () =>
        ask({ port: guarded.httpPort, ...(body === undefined ? {} : { body }) }),
      );
      for (const answer of await Promise.all(asked)) {
        expect(answer.status).toBe(503);
        expect(answer.body).toContain('This request could not be checked. Please try again.');
      }
      expect([relayed, origin.arrivals.length]).toEqual([0, 0]);
      for (const [index, kind] of given.entries()) {
        const questions = agents[index]?.stats.notifies ?? 0;
        if (kind === 'silent') expect(questions).toBe(REQUESTS);
      }
      // Each half of the guards has half of the time.
      const spoe = readFileSync(join(guarded.dataDir, 'haproxy', 'spoe.cfg'), 'utf8');
      expect(spoe.match(/timeout processing .*/g)).toEqual(Array(2).fill(`timeout processing ${TIMEOUT_MS / 2}ms`));
    });
  }
});
