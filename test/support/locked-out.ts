import { spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from './bare-environment.ts';
import { createApiCaller } from './call-api.ts';
import { freePorts } from './free-ports.ts';
import { createProduct, type Product } from './product.ts';
import { until } from './until.ts';

const TOKEN = 'f'.repeat(64);
const SWITCHES = [
  'security.acl.enabled',
  'security.rate_limit.enabled',
  'security.crowdsec.enabled',
  'security.waf.enabled',
  'feature.guard.enabled',
];
const cli = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url));

/** Which way back in: the server's, the emergency listener's, the shell's. */
export type Tier = 1 | 2 | 3;

/** One request to the API, below its root; resolves with what it answers. */
export type Call = <T>(method: string, path: string, body?: object) => Promise<T>;

/** The running product with the firewall on, in front of a host that an operator asks for something it refuses. */
export interface LockedOut {
  product: Product;
  /** A request that the firewall refuses: its host and its path. */
  attack: { host: string; path: string };
  /** Switches the suite on, and resolves when the attack is refused. */
  lock(): Promise<void>;
  /** What the proxy answers to the attack: 403, 200, or 0 for nothing. */
  ask(): Promise<number>;
  /** Resolves to whether the reset was acknowledged as done. `from`: an address of loopback, as five attempts a minute are all one has. */
  reset(tier: Tier, from?: string): Promise<boolean>;
  /** How many of the five switches are stored as on. */
  switchesOn(): Promise<number>;
  /** Asks the API as the administrator, with a session that outlives the server. Rejects unless it did what it was asked for. */
  call: Call;
  stop(): Promise<void>;
}

/** Starts it, with its store in SQLite unless another is given. */
export const startLockedOut = async (databaseUrl?: string): Promise<LockedOut> => {
  const [api = 0, http = 0, https = 0, tier2 = 0, crowdsec = 0] = await freePorts(5);
  const product = createProduct({ api, http, https }, databaseUrl, {
    SALLYPORT_EMERGENCY_TOKEN: TOKEN,
    SALLYPORT_EMERGENCY_BIND: `127.0.0.1:${tier2}`,
    SALLYPORT_CROWDSEC_PORT: String(crowdsec),
    // What signs sessions; otherwise they would end with the server.
    SALLYPORT_SESSION_SECRET: 'a secret that outlives each start',
  });
  const origin = createServer((_request, response) => response.end('fine'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  await product.start();
  const attack = { host: 'walled.test', path: `/?id=${encodeURIComponent('1 union select password from users--')}` };

  let token: string | undefined;
  const { call } = createApiCaller(
    () => product.api,
    () => token,
  );

  const session = await call<{ token: string }>('POST', '/setup', {
    email: 'a@example.com',
    password: 'correct horse',
  });
  token = session.token;
  await call('POST', '/proxy-hosts', {
    domain: attack.host,
    forward_host: '127.0.0.1',
    forward_port: (origin.address() as AddressInfo).port,
    // The filter of single hosts is no part of the suite: it stays.
    block_exploits: false,
  });
  // The rate limit is not what refuses here.
  await call('POST', '/security/config', {
    waf_mode: 'block',
    admin_whitelist: '192.0.2.1',
    rate_limit_requests: 1_000_000,
  });

  const send = (port: number, path: string, options: { method?: string; from?: string; headers?: object }) =>
    new Promise<{ status: number; body: string }>((resolve) => {
      const { method = 'GET', from, headers = {} } = options;
      const sent = request(
        {
          host: '127.0.0.1',
          port,
          path,
          method,
          agent: false,
          headers: { ...headers },
          ...(from && { localAddress: from }),
        },
        (response) => {
          text(response).then(
            (body) => resolve({ status: response.statusCode ?? 0, body }),
            () => resolve({ status: 0, body: '' }),
          );
        },
      );
      sent.once('error', () => resolve({ status: 0, body: '' })).end();
    });

  const ask = async (): Promise<number> => (await send(http, attack.path, { headers: { host: attack.host } })).status;

  const resetFromShell = async (): Promise<boolean> => {
    const child = spawn(process.execPath, [cli, '--data-dir', product.dataDir, 'emergency', 'reset'], {
      stdio: 'ignore',
      env: { ...bareEnvironment, ...(databaseUrl && { DATABASE_URL: databaseUrl }) },
    });
    return (await new Promise((resolve) => child.once('close', resolve))) === 0;
  };

  return {
    product,
    attack,
    ask,
    call,
    async lock() {
      for (const key of SWITCHES) await call('POST', '/settings', { key, value: 'true' });
      await until('the proxy refuses', async () => (await ask()) === 403, 120_000);
    },
    async reset(tier, from) {
      if (tier === 3) return resetFromShell();
      const [port, path] =
        tier === 1 ? [api, '/api/v1/emergency/security-reset'] : [tier2, '/emergency/security-reset'];
      const headers = { 'x-emergency-token': TOKEN };
      const { status, body } = await send(port, path, { method: 'POST', headers, ...(from && { from }) });
      return status === 200 && (JSON.parse(body) as { success: boolean }).success;
    },
    async switchesOn() {
      const { settings } = await call<{ settings: { key: string; value: string }[] }>('GET', '/settings?per_page=100');
      return settings.filter(({ key, value }) => SWITCHES.includes(key) && value === 'true').length;
    },
    async stop() {
      await product.remove();
      origin.closeAllConnections();
      origin.close();
    },
  };
};
