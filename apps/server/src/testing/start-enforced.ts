import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { adminSocket, masterSocket, proxyDirectory } from '@sallyport/deployment/places';
import { runDirectory } from '@sallyport/deployment/proxy-account';
import {
  createDataPlane,
  type DesiredHost,
  dataPlaneFiles,
  limitKey,
  routeFlags,
  switchKeys,
  writeStaticFiles,
} from '@sallyport/haproxy';
import { eventually } from '../../../../test/support/eventually.ts';
import { freePorts } from '../../../../test/support/free-ports.ts';
import { type GuardProcess, startGuard } from '../../../../test/support/guard/guard-process.ts';
import { enforceNothing } from '../../../../test/support/haproxy/enforce-nothing.ts';
import { createEnforcementPlane } from '../dataplane/protection/plane.ts';
import { haproxyProgram, toProxySettings } from '../dataplane/proxy-settings.ts';

/** What HAProxy asks the guards for, and what it does without their word. */
export interface HeldSwitches {
  judgeAccess: boolean;
  judgeWaf: boolean;
  failMode: 'closed' | 'open';
  policy: number;
  remembered: number;
}

/** A real HAProxy that enforces, and the plane that steers it. */
export interface Enforced {
  plane: ReturnType<typeof createEnforcementPlane>;
  /** What both run with. */
  config: Config;
  /** Where it listens for plain HTTP. */
  port: number;
  /** Makes these its routes, and no others. */
  serve(...hosts: DesiredHost[]): Promise<void>;
  /** Networks that HAProxy refuses, and the reference of each. */
  bans(): Promise<Map<string, string>>;
  whitelist(): Promise<string[]>;
  /** Requests a client may make; 0: any number. */
  limit(): Promise<number>;
  switches(): Promise<HeldSwitches>;
  /** Starts the one guard. */
  startGuard(): Promise<GuardProcess>;
  /** Ends HAProxy. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts HAProxy on a data directory as the product does, with ports of its own and one guard that is to be started. */
export const startEnforced = async (given: Config): Promise<Enforced> => {
  const { dataDir } = given;
  const [http = 0, https = 0] = await freePorts(2);
  const at = (port: number) => ({ host: '127.0.0.1', port });
  const config = { ...given, proxyHttp: at(http), proxyHttps: at(https), guards: 1 };
  const directory = proxyDirectory(dataDir);
  mkdirSync(runDirectory(dataDir), { recursive: true, mode: 0o700 });
  await writeStaticFiles(directory, toProxySettings(config));
  enforceNothing(directory);
  const driver = createDataPlane({ directory, adminSocket: adminSocket(dataDir), onEvent: () => {} });
  await driver.reconcile({ hosts: [], certificates: [] });
  const plane = createEnforcementPlane({ config, driver });

  const ask = (command: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(adminSocket(dataDir), () => socket.write(`${command}\n`));
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      socket.once('end', () => resolve(text)).once('error', reject);
    });

  const readMap = async (file: string): Promise<Map<string, string>> => {
    const lines = (await ask(`show map ${file}`)).split('\n').filter((line) => line !== '');
    return new Map(lines.map((line) => line.split(' ').slice(1, 3) as [string, string]));
  };

  let haproxy: ChildProcess | undefined;
  const guards: GuardProcess[] = [];

  const comeBack = async (): Promise<void> => {
    const argv = ['-W', '-S', `${masterSocket(dataDir)},mode,600`, '-f', join(directory, dataPlaneFiles.config)];
    haproxy = spawn(haproxyProgram(), argv, { stdio: 'ignore' });
    await eventually(() => ask('show version').catch(() => '')).not.toBe('');
  };
  const goAway = async (): Promise<void> => {
    if (!haproxy) return;
    const exited = once(haproxy, 'exit');
    haproxy.kill('SIGTERM');
    await exited;
    haproxy = undefined;
  };
  await comeBack();

  return {
    plane,
    config,
    port: http,
    async serve(...hosts) {
      await driver.reconcile({ hosts, certificates: [] });
    },
    async bans() {
      const entries = await readMap(dataPlaneFiles.bansMap);
      return new Map([...entries].filter(([, reference]) => reference !== 'ok'));
    },
    whitelist: async () => [...(await readMap(dataPlaneFiles.whitelistMap)).keys()],
    limit: async () => Number((await readMap(dataPlaneFiles.limitsMap)).get(limitKey)),
    async switches() {
      const held = await readMap(dataPlaneFiles.switchesMap);
      const unasked = Number(held.get(switchKeys.unasked));
      return {
        judgeAccess: (unasked & routeFlags.accessList) === 0,
        judgeWaf: (unasked & routeFlags.firewall) === 0,
        failMode: held.get(switchKeys.failOpen) === '1' ? 'open' : 'closed',
        policy: Number(held.get(switchKeys.policy)),
        remembered: Number(held.get(switchKeys.remembered)),
      };
    },
    async startGuard() {
      const guard = await startGuard(dataDir, 0);
      guards.push(guard);
      return guard;
    },
    goAway,
    comeBack,
    async stop() {
      for (const guard of guards) {
        guard.kill('SIGKILL');
        await guard.exited;
      }
      await goAway();
      await plane.stop();
      await driver.stop();
    },
  };
};
