import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crs3Rules, crs3Setup } from '../../../test/support/waf/crs.ts';
import { type Kind, requestText } from '../../../test/support/waf/requests.ts';
import { baselineRules, crsSettings } from '../src/index.ts';

const ports = { origin: 21_390, off: 21_391, on: 21_392 };
const module = '/usr/lib/nginx/modules/ngx_http_modsecurity_module.so';
const loadSeconds = 1;
const runs = 5;
const ticksPerSecond = 100;

/** nginx with libmodsecurity and CRS at PL1 in front of a tiny nginx, on loopback, one worker each. */
export const startPeer = async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-bench-'));
  mkdirSync(join(folder, 'logs'));
  const rules = [
    String(baselineRules.text),
    String(crsSettings({ paranoiaLevel: 1, inboundThreshold: 5 }).text),
    `Include ${crs3Setup}\nInclude ${crs3Rules}/*.conf\n`,
  ];
  writeFileSync(join(folder, 'rules.conf'), rules.join('\n'));
  const servers = [
    nginx(folder, 'origin', `server { listen 127.0.0.1:${ports.origin}; location / { return 200 "ok\\n"; } }`),
    nginx(folder, 'off', proxy(ports.off, '')),
    nginx(folder, 'on', proxy(ports.on, `modsecurity on; modsecurity_rules_file ${folder}/rules.conf;`)),
  ];
  await Promise.all(Object.values(ports).map(accepts));

  const stop = async (): Promise<void> => {
    await Promise.all(
      servers.map(({ process: child }) => {
        const ended = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        return ended;
      }),
    );
    rmSync(folder, { recursive: true });
  };

  /** µs of CPU that the proxying nginx spends per request: the best of some runs. */
  const measure = async (kind: Kind, side: 'off' | 'on'): Promise<number> => {
    const { process: child } = servers[side === 'off' ? 1 : 2]!;
    const script = join(folder, `${kind}.lua`);
    writeFileSync(script, toLua(kind));
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run < runs; run++) {
      const before = workerTicks(child.pid!);
      const { stdout } = await promisify(execFile)('wrk', [
        '-t1',
        '-c16',
        `-d${loadSeconds}s`,
        '-s',
        script,
        `http://127.0.0.1:${ports[side]}`,
      ]);
      const ticks = workerTicks(child.pid!) - before;
      const requests = Number(/(\d+) requests in/.exec(stdout)?.[1]);
      if (!(requests > 0) || /Non-2xx/.test(stdout)) throw new Error(`wrk got no good answers:\n${stdout}`);
      best = Math.min(best, (ticks / ticksPerSecond / requests) * 1e6);
    }
    return best;
  };
  return { measure, stop };
};

const nginx = (folder: string, name: string, server: string) => {
  const file = join(folder, `${name}.conf`);
  writeFileSync(
    file,
    `load_module ${module};
daemon off; worker_processes 1; pid ${folder}/${name}.pid; error_log ${folder}/logs/${name}.log crit;
events { worker_connections 1024; }
http { access_log off; keepalive_requests 1000000; client_body_temp_path ${folder}/body-${name}; proxy_temp_path ${folder}/proxy-${name};
fastcgi_temp_path ${folder}/f-${name}; uwsgi_temp_path ${folder}/u-${name}; scgi_temp_path ${folder}/s-${name};
upstream origin { server 127.0.0.1:${ports.origin}; keepalive 32; }
${server} }
`,
  );
  return { process: spawn('nginx', ['-c', file, '-p', folder], { stdio: 'ignore' }) };
};

const proxy = (port: number, extra: string): string =>
  `server { listen 127.0.0.1:${port}; ${extra} location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; } }`;

const toLua = (kind: Kind): string => {
  const { method, uri, headers, body } = requestText(kind, '1234567');
  const quoted = (text: string): string => JSON.stringify(text);
  const lines = headers
    .filter(([name]) => name !== 'Content-Length')
    .map(([name, value]) => `wrk.headers[${quoted(name)}] = ${quoted(value)}`);
  return `wrk.method = ${quoted(method)}\nwrk.path = ${quoted(uri)}\n${lines.join('\n')}\n${body === '' ? '' : `wrk.body = ${quoted(body)}\n`}`;
};

/** Clock ticks of user and system time of all workers of an nginx master. */
const workerTicks = (master: number): number => {
  let ticks = 0;
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(pid);
    if (fields !== null && Number(fields[1]) === master) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks;
};

/** The fields of /proc/PID/stat behind the command name; null when the process is gone. */
const statOf = (pid: string): string[] | null => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
};

/** Resolves when something accepts connections on the port; rejects after 20 s. */
const accepts = async (port: number): Promise<void> => {
  const deadline = performance.now() + 20_000;
  for (;;) {
    const isOpen = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.once('error', () => resolve(false));
    });
    if (isOpen) return;
    if (performance.now() > deadline) throw new Error(`nothing listens on port ${port}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
