/**
 * CPU per request of the security suite, end to end: HAProxy with its guards, and side by side in the same run nginx
 * with libmodsecurity, both with Debian's CRS 3.3.4 at paranoia level 1 in block mode; then access lists alone, bans,
 * and the latency at half of the load that was reached.
 *
 * node test/bench/guard.ts [rounds]; needs haproxy, nginx with libnginx-mod-http-modsecurity, modsecurity-crs, wrk.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { VERDICT_SECONDS_BOUNDS } from '@sallyport/contract';
import { createEnforcementMap } from '@sallyport/enforcement/live-map';
import { createAdminSocket, dataPlaneFiles } from '@sallyport/haproxy';
import { createBans } from '@sallyport/server/testing/parts';
import { baselineRules, crsSettings } from '@sallyport/waf';
import { freePort } from '../support/free-ports.ts';
import { givenConfig } from '../support/guard/config.ts';
import { startGuarded } from '../support/guard/start-guarded.ts';
import { crs3Rules, crs3Setup } from '../support/waf/crs.ts';
import { type Kind, kinds, requestText } from '../support/waf/requests.ts';

const rounds = Number(process.argv[2] ?? 3);
const LOAD_SECONDS = 2;
const LATENCY_SECONDS = 4;
const TICKS_PER_SECOND = 100;
const HOST = 'shop.example.com';
const UNIQUE = '1234567';
const say = (text: string): void => void process.stdout.write(`${text}\n`);
const run = promisify(execFile);

const folder = mkdtempSync(join(tmpdir(), 'sp-bench-guard-'));
const ports = { origin: await freePort(), nginx: await freePort() };

const accepts = async (port: number, server: ChildProcess): Promise<void> => {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`nginx ended with ${server.exitCode}: is its module installed?`);
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true));
      socket.on('connect', () => socket.destroy()).on('error', () => resolve(false));
    });
    if (isOpen) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const nginx = (name: string, server: string) => {
  const file = join(folder, `${name}.conf`);
  mkdirSync(join(folder, 'logs'), { recursive: true });
  writeFileSync(
    file,
    `load_module /usr/lib/nginx/modules/ngx_http_modsecurity_module.so;
daemon off; worker_processes 1; pid ${folder}/${name}.pid; error_log ${folder}/logs/${name}.log crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 100000000; client_body_temp_path ${folder}/b; proxy_temp_path ${folder}/p;
fastcgi_temp_path ${folder}/f; uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
upstream origin { server 127.0.0.1:${ports.origin}; keepalive 64; keepalive_requests 100000000; }
${server} }
`,
  );
  return spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' });
};

const rulesFile = join(folder, 'rules.conf');
const settings = [String(baselineRules.text), String(crsSettings({ paranoiaLevel: 1, inboundThreshold: 5 }).text)];
writeFileSync(rulesFile, [...settings, `Include ${crs3Setup}\nInclude ${crs3Rules}/*.conf\n`].join('\n'));

/**
 * `new`: each request has values that no other has, so that nothing can be answered from memory but what browsers
 * repeat, too. `repeated`: the values of 50 requests come again and again.
 */
type Values = 'new' | 'repeated';

/**
 * wrk's script. With `meanPauseMs`, each connection pauses between its requests, by chance (exponentially distributed), so that they
 * come as visitors do, and the latencies are printed at the end, in milliseconds.
 */
const script = (kind: Kind, values: Values, meanPauseMs = 0): string => {
  const { method, uri, headers, body } = requestText(kind, UNIQUE);
  const set = headers
    .filter(([name]) => name !== 'Content-Length' && name !== 'Connection')
    .map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`);
  const path = join(folder, `${kind}-${values}-${meanPauseMs === 0 ? 'closed' : 'paced'}.lua`);
  writeFileSync(
    path,
    `${set.join('\n')}
local n = math.random(1000000, 2000000)
local uri, body = ${JSON.stringify(uri)}, ${JSON.stringify(body)}
request = function()
  n = n + 1
  local id = tostring(1000000 + n % ${values === 'new' ? 8_999_999 : 50})
  return wrk.format(${JSON.stringify(method)}, (uri:gsub("${UNIQUE}", id)), nil, ${body === '' ? 'nil' : `(body:gsub("${UNIQUE}", id))`})
end
${
  meanPauseMs === 0
    ? ''
    : `math.randomseed(os.time())
delay = function() return math.floor(0.5 - math.log(1 - math.random()) * ${meanPauseMs}) end
done = function(summary, latency)
  for _, share in ipairs({50, 99, 99.9}) do io.write("below ", latency:percentile(share) / 1000, "\\n") end
  io.write("below ", latency.max / 1000, "\\n")
end`
}
`,
  );
  return path;
};

/** The fields of /proc/PID/stat behind the command name: 1 is the parent, 11 and 12 are user and system time. */
const statOf = (pid: number): string[] => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
};
const ticksOf = (pids: readonly number[]): number =>
  pids.map(statOf).reduce((sum, fields) => sum + Number(fields[11] ?? 0) + Number(fields[12] ?? 0), 0);
const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => Number(statOf(pid)[1]) === parent);

type Load = { port: number; kind: Kind; pids: readonly number[]; values?: Values };
type Measured = { microseconds: number; perSecond: number };

const load = async ({ port, kind, pids, values = 'new' }: Load): Promise<Measured> => {
  const before = ticksOf(pids);
  const { stdout } = await run('wrk', [
    '-t1',
    '-c32',
    `-d${LOAD_SECONDS}s`,
    '-s',
    script(kind, values),
    `http://127.0.0.1:${port}`,
  ]);
  const ticks = ticksOf(pids) - before;
  const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
  if (!(requests > 0) || /Non-2xx/.test(stdout)) throw new Error(`no good answers:\n${stdout}`);
  return { microseconds: (ticks / TICKS_PER_SECOND / requests) * 1e6, perSecond: requests / LOAD_SECONDS };
};

/** Milliseconds that so many of the requests stay below. */
type Latency = { p50: number; p99: number; p999: number; most: number };

const CONNECTIONS = 64;

/**
 * Times requests that come at about this rate, each at a time of its own. h2load's --rps is of no use for it: its connections are all
 * made at once and then keep step, so that 64 requests come in the same millisecond, and wait for each other.
 */
const latency = async (port: number, kind: Kind, perSecond: number): Promise<Latency> => {
  const paced = script(kind, 'new', (CONNECTIONS / perSecond) * 1_000);
  const { stdout } = await run('wrk', [
    ...['-t1', `-c${CONNECTIONS}`, `-d${LATENCY_SECONDS}s`, '-s', paced, `http://127.0.0.1:${port}`],
  ]);
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`no good answers:\n${stdout}`);
  const [p50, p99, p999, most] = [...stdout.matchAll(/^below ([\d.]+)$/gm)].map(([, ms]) => Number(ms));
  if (most === undefined) throw new Error(`wrk printed no latencies:\n${stdout}`);
  return { p50: p50!, p99: p99!, p999: p999!, most };
};

const inWords = ({ p50, p99, p999, most }: Latency): string =>
  `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)}, p99.9 ${p999.toFixed(1)}, at most ${most.toFixed(1)} ms`;

const best = async (measure: () => Promise<Measured>): Promise<Measured> => {
  let found = await measure();
  for (let round = 1; round < rounds; round++) {
    const next = await measure();
    if (next.microseconds < found.microseconds) found = next;
  }
  return found;
};

const origin = nginx('origin', `server { listen 127.0.0.1:${ports.origin}; location / { return 200 "ok\\n"; } }`);
const peer = nginx(
  'peer',
  `server { listen 127.0.0.1:${ports.nginx}; modsecurity on; modsecurity_rules_file ${rulesFile};
location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; } }`,
);

const list = {
  id: 1,
  name: 'all',
  description: '',
  type: 'deny',
  rules: [{ cidr: '203.0.113.0/24' }],
  countries: [],
} as const;
const text = (path: string, content: string | Uint8Array) => ({ kind: 'text', path, text: String(content) }) as const;
const file = (path: string) => ({ kind: 'file', path }) as const;
const guarded = await startGuarded({
  config: givenConfig(1, {
    waf: {
      rule_sources: [
        text('settings', crsSettings({ paranoiaLevel: 1, inboundThreshold: 5 }).text),
        file(crs3Setup),
        ...readdirSync(crs3Rules)
          .filter((name) => name.endsWith('.conf'))
          .sort()
          .map((name) => file(join(crs3Rules, name))),
      ],
    },
    access: {
      enabled: true,
      lists: [{ ...list, rules: [...list.rules], countries: [], local_network_only: false, enabled: true }],
    },
    hosts: [{ id: 1, access_list_id: 1, waf_enabled: true }],
  }),
});
try {
  await guarded.serve({ names: [HOST], origin: { port: ports.origin } as never });
  await guarded.command(`add map ${dataPlaneFiles.switchesMap} remembered 0`);
  await Promise.all([accepts(ports.origin, origin), accepts(ports.nginx, peer)]);
  const ours = [guarded.haproxyPid, ...guarded.guards.map(({ pid }) => pid)];
  const theirs = childrenOf(peer.pid ?? 0);
  const [OFF, LISTS, ALL] = [0, 512, 1536];
  for (const kind of kinds) await load({ port: guarded.httpPort, kind, pids: ours });

  say('µs of CPU per request (proxy and guards together), best of the rounds');
  for (const kind of kinds) {
    await guarded.switchTo(OFF);
    const plain = await best(() => load({ port: guarded.httpPort, kind, pids: ours }));
    await guarded.switchTo(LISTS);
    const lists = await best(() => load({ port: guarded.httpPort, kind, pids: ours }));
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered 1`);
    const remembered = await best(() => load({ port: guarded.httpPort, kind, pids: ours }));
    await guarded.command(`set map ${dataPlaneFiles.switchesMap} remembered 0`);
    await guarded.switchTo(ALL);
    const all = await best(() => load({ port: guarded.httpPort, kind, pids: ours }));
    const again = await best(() => load({ port: guarded.httpPort, kind, pids: ours, values: 'repeated' }));
    const other = await best(() => load({ port: ports.nginx, kind, pids: theirs }));
    const otherAgain = await best(() => load({ port: ports.nginx, kind, pids: theirs, values: 'repeated' }));
    const half = other.perSecond / 2;
    const [atHalf, same, others] = [
      await latency(guarded.httpPort, kind, all.perSecond / 2),
      await latency(guarded.httpPort, kind, half),
      await latency(ports.nginx, kind, half),
    ];
    say(
      `${kind.padEnd(4)} off ${plain.microseconds.toFixed(0)}, access list ${lists.microseconds.toFixed(0)} ` +
        `(+${(lists.microseconds - plain.microseconds).toFixed(1)}), of a client that passed a moment ago ` +
        `(+${(remembered.microseconds - plain.microseconds).toFixed(1)}, reach 15), firewall ${all.microseconds.toFixed(0)}; ` +
        `nginx with libmodsecurity ${other.microseconds.toFixed(0)}: 1/${(other.microseconds / all.microseconds).toFixed(1)} (reach 1/8); ` +
        `values seen before: ${again.microseconds.toFixed(0)} and ${otherAgain.microseconds.toFixed(0)}: 1/${(otherAgain.microseconds / again.microseconds).toFixed(1)}; ` +
        `at half load (${(all.perSecond / 2).toFixed(0)}/s) ${inWords(atHalf)}; ` +
        `at half of nginx's (${half.toFixed(0)}/s) ${inWords(same)}, nginx ${inWords(others)}`,
    );
  }

  const verdicts = (await Promise.all(guarded.guards.map((guard) => guard.stats()))).map(
    (stats) => stats.verdict_seconds,
  );
  const bounds = [...VERDICT_SECONDS_BOUNDS, Number.POSITIVE_INFINITY];
  say(
    `verdicts by duration: ${bounds.map((bound, i) => `${verdicts.reduce((sum, { buckets }) => sum + (buckets[i] ?? 0), 0)} ≤ ${bound * 1e3} ms`).join(', ')}`,
  );

  await guarded.switchTo(OFF);
  const without = await best(() => load({ port: guarded.httpPort, kind: 'GET', pids: ours }));
  const bans = createBans(
    createEnforcementMap({
      dataDir: guarded.dataDir,
      socket: createAdminSocket({ path: join(guarded.dataDir, 'haproxy', 'admin.sock') }),
      file: dataPlaneFiles.bansMap,
      heading: 'bench',
    }),
  );
  const entries = Array.from({ length: 100_000 }, (_, i) => ({
    network: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
    reference: 'bench',
  }));
  const startedAt = performance.now();
  const { applied, issue } = await bans.apply({ type: 'replace', entries });
  if (!applied) throw new Error(`bans: ${issue}`);
  const loadedMs = performance.now() - startedAt;
  const singles: number[] = [];
  for (let i = 0; i < 50; i++) {
    const before = performance.now();
    await bans.apply({ type: 'update', put: [{ network: `172.16.0.${i}`, reference: 'one' }], remove: [] });
    singles.push(performance.now() - before);
  }
  const withBans = await best(() => load({ port: guarded.httpPort, kind: 'GET', pids: ours }));
  singles.sort((a, b) => a - b);
  say(
    `100,000 bans in force in ${loadedMs.toFixed(0)} ms (reach 2,000); one more in ${singles[25]?.toFixed(1)} ms median, ` +
      `${singles.at(-1)?.toFixed(1)} ms at most (reach 20); ${(withBans.microseconds - without.microseconds).toFixed(1)} µs per request`,
  );
  await bans.stop();
} finally {
  await guarded.stop();
  for (const child of [origin, peer]) child.kill('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
}
