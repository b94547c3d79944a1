import { createServer, type Server } from 'node:net';
import type { GuardConfig } from '@sallyport/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../support/free-ports.ts';
import { crs334, unlessHere } from '../support/ftw/rule-sets.ts';
import { type FtwTest, readSuite, type Stage } from '../support/ftw/suite.ts';
import { toBytes } from '../support/ftw/to-bytes.ts';
import { givenConfig } from '../support/guard/config.ts';
import { type Guarded, startGuarded } from '../support/guard/start-guarded.ts';
import { knownExceptions } from './support/crs-exceptions.ts';
import { createLane, type Lane, type Outcome } from './support/crs-lane.ts';

const suite = crs334();
const EXPECTED = 2_403;
const LANES = 8;

/** In monitor mode this reports every request with all rules that matched, and stops none. */
const REPORT_ALL = 'SecAction "id:99999,phase:2,deny,status:403,log,t:none,msg:\'seen\'"\n';

/** These tests want that a gadget named by an element of XML is not found; ours is. */
const WITHOUT_BODY = 'SecAction "id:99998,phase:1,pass,nolog,t:none,ctl:forceRequestBodyVariable=Off"\n';

const sources = (): GuardConfig['waf']['rule_sources'] => [
  { kind: 'text', path: 'without-body.conf', text: WITHOUT_BODY },
  ...(suite?.sources ?? []).map(({ path, text }) =>
    path.startsWith('/')
      ? ({ kind: 'file', path } as const)
      : ({ kind: 'text', path, text: Buffer.from(text as string).toString() } as const),
  ),
  { kind: 'text', path: 'report.conf', text: REPORT_ALL },
];

/** Names that the tests ask for and that can be served. */
const hostNames = (tests: readonly FtwTest[]): string[] => {
  const names = new Set<string>();
  for (const { stages, isOldDialect } of tests) {
    for (const stage of stages) {
      const host = /\r?\nhost:[ \t]*([^\r\n]*)/i.exec(toBytes(stage, isOldDialect).toString('latin1'))?.[1] ?? '';
      const name = host.trim().replace(/:\d+$/, '').toLowerCase();
      if (/^[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?$/.test(name)) names.add(name);
    }
  }
  return [...names];
};

/** What is wrong with the outcome; null when it is as the test wants. A refusal by HAProxy itself is `refused`. */
const problemOf = ({ output }: Stage, { status, block }: Outcome): string | null => {
  const statuses = [output.status ?? []].flat();
  const isRefused = block === undefined && (status === 0 || status >= 400);
  if (isRefused && (output.expect_error === true || statuses.some((expected) => expected >= 400))) return null;
  const log = (block?.matches ?? []).map(({ rule_id, message }) => `[id "${rule_id}"] [msg "${message}"]`).join('\n');
  const has = (id: number): boolean => log.includes(`[id "${id}"]`);
  const { expect_ids = [], no_expect_ids = [], match_regex, no_match_regex } = output.log ?? {};
  const wanted = [
    ...expect_ids.filter((id) => !has(id)).map((id) => `rule ${id} did not fire`),
    ...no_expect_ids.filter(has).map((id) => `rule ${id} fired`),
  ];
  if (match_regex !== undefined && !new RegExp(match_regex).test(log)) wanted.push(`no ${match_regex}`);
  if (no_match_regex !== undefined && new RegExp(no_match_regex).test(log)) wanted.push(`${no_match_regex} in the log`);
  if (output.log_contains !== undefined && !new RegExp(output.log_contains).test(log)) {
    wanted.push(`no ${output.log_contains}`);
  }
  if (output.no_log_contains !== undefined && new RegExp(output.no_log_contains).test(log)) {
    wanted.push(`${output.no_log_contains} in the log`);
  }
  if (wanted.length === 0) return null;
  return isRefused ? 'refused before it was judged' : wanted.join(', ');
};

let guarded: Guarded;
let origin: Server;
let lanes: Lane[] = [];

beforeAll(async () => {
  if (!suite) return;
  // Answers without reading: some requests are nothing that an HTTP server would understand.
  origin = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'));
  });
  const port = await freePort();
  await new Promise<void>((resolve) => origin.listen(port, '127.0.0.1', resolve));
  guarded = await startGuarded({
    config: givenConfig(1, { waf: { mode: 'monitor', rule_sources: sources() } }),
    timeoutMs: 20_000,
    onTold: (message) => {
      for (const lane of lanes) lane.take(message);
    },
  });
  lanes = Array.from({ length: LANES }, (_, i) => createLane(`127.0.0.${i + 2}`, guarded.httpPort));
  await guarded.serve({ names: hostNames(readSuite(suite.folder)), origin: { port } as never });
}, 120_000);
afterAll(async () => {
  if (!suite) return;
  await guarded.stop();
  origin.close();
});

test.skipIf(!suite)(
  `CRS 3.3.4 passes its own regression tests through HAProxy, but for those listed${unlessHere(suite !== null)}`,
  { timeout: 300_000 },
  async () => {
    const tests = readSuite(suite?.folder ?? '');
    expect(tests.length).toBe(EXPECTED);
    const problems: Record<string, string> = {};
    const queue = tests.values();
    await Promise.all(
      lanes.map(async (lane) => {
        for (const { id, stages, isOldDialect } of queue) {
          for (const stage of stages) {
            const problem = problemOf(stage, await lane.send(toBytes(stage, isOldDialect)));
            if (problem !== null) problems[id] = problem;
          }
        }
      }),
    );
    expect(problems).toEqual(knownExceptions);
  },
);
