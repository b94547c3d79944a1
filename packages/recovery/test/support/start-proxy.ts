import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminSocket } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { onTestFinished } from 'vitest';
import { until } from '../../../../test/support/until.ts';

/** Starts an HAProxy on the maps of a data directory that says what is enforced, which have to be there; it ends with the test. */
export const startProxy = async (dataDir: string): Promise<void> => {
  const admin = adminSocket(dataDir);
  const config = join(dataDir, 'haproxy', 'haproxy.cfg');
  writeFileSync(
    config,
    `global
  default-path config
  stats socket ${admin} mode 600 level admin
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
frontend f
  bind unix@${join(dataDir, 'f.sock')}
  http-request deny if { src,map_ip(${dataPlaneFiles.bansMap}) -m found }
  http-request deny if { str(x),map(${dataPlaneFiles.limitsMap}) -m found }
  http-request deny if { str(x),map(${dataPlaneFiles.switchesMap}) -m found }
`,
  );
  chmodSync(dataDir, 0o755);
  const haproxy = spawn(process.env.HAPROXY ?? '/usr/sbin/haproxy', ['-f', config], { stdio: 'ignore' });
  onTestFinished(async () => {
    haproxy.kill('SIGKILL');
    if (haproxy.exitCode === null && haproxy.signalCode === null) await once(haproxy, 'exit');
  });
  await until('HAProxy listens', () => existsSync(admin));
};
