import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, parseConfig } from '@sallyport/deployment/config';
import pg from 'pg';
import { type Logger, pino } from 'pino';
import { describe, inject } from 'vitest';
import { type RunningServer, type StartOptions, startServer } from '../server.ts';

export interface ApiResponse<T = unknown> {
  status: number;
  headers: Headers;
  body: T;
}

export type DatabaseKind = 'sqlite' | 'postgres';

/** Runs a group of tests once on SQLite and once on PostgreSQL. */
export const onBothDatabases = (name: string, tests: (kind: DatabaseKind) => void): void => {
  describe.each<DatabaseKind>(['sqlite', 'postgres'])(`${name} on %s`, tests);
};

/** Makes a database like `template`. */
const createPostgresDatabase = async (template: string) => {
  const adminUrl = inject('postgresUrl');
  const name = `t_${process.pid}_${Math.random().toString(36).slice(2, 10)}`;
  const run = async (statement: string) => {
    const client = new pg.Client({ connectionString: adminUrl });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create database ${name} template ${template}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`drop database if exists ${name} with (force)`) };
};

/** Runs `work` with the configuration of a store that nothing has been written to yet. */
export const emptyStore = async (kind: DatabaseKind, work: (config: Config) => Promise<void>): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const database = kind === 'postgres' ? await createPostgresDatabase('template1') : undefined;
  try {
    await work({ ...parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/'), databaseUrl: database?.url });
  } finally {
    await database?.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
};

/** A running service with its own store and directory, and ways to talk to it. */
export interface TestApp {
  url: string;
  dataDir: string;
  config: Config;
  /** Sends JSON (or a FormData) to a path below `/api/v1`. */
  send<T = unknown>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiResponse<T>>;
  /** `METHOD path policy` of every route. */
  routePolicies(): readonly string[];
  /** Takes the PostgreSQL database away from under the running server. */
  dropDatabase(): Promise<void>;
  /** Stops the server; its store stays. */
  goDown(): Promise<void>;
  /** Stops the server and starts it again on the same store. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Time, addresses and log of the service under test. */
export type TestOptions = StartOptions & { log?: Logger };

/** Only tests of CrowdSec start it. */
const NO_CROWDSEC = { daemon: '/nonexistent/crowdsec', cli: '/nonexistent/cscli', hub: '/nonexistent/hub' };

/** Starts the real service on a free port, with an empty store; no HAProxy runs unless the test starts one. */
export const startApp = async (
  kind: DatabaseKind,
  env: Record<string, string> = {},
  options: TestOptions = {},
): Promise<TestApp> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  const database = kind === 'postgres' ? await createPostgresDatabase(inject('postgresTemplate')) : undefined;
  const template = inject('sqliteTemplate');
  // Where tests have none, the server makes the tables itself.
  if (!database && template !== undefined) copyFileSync(template, join(dataDir, 'sallyport.db'));
  const config: Config = {
    ...parseConfig(
      {
        SALLYPORT_DATA_DIR: dataDir,
        SALLYPORT_TRUSTED_PROXIES: '127.0.0.0/8,::1',
        // What runs on the machine of a test is nothing to it.
        SALLYPORT_DOCKER_SOCKET: 'off',
        ...(database ? { DATABASE_URL: database.url } : {}),
        ...env,
      },
      '/',
    ),
    httpBind: { host: '127.0.0.1', port: 0 },
  };
  const { log = pino({ level: 'silent' }), crowdsec = NO_CROWDSEC, ...given } = options;
  const start = { ...given, crowdsec };
  let server: RunningServer = await startServer(config, log, start);
  let isUp = true;
  const goDown = async (): Promise<void> => {
    if (isUp) await server.stop();
    isUp = false;
  };
  return {
    get url() {
      return server.url;
    },
    dataDir,
    config,
    async send<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
      const isForm = body instanceof FormData;
      const response = await fetch(`${server.url}/api/v1${path}`, {
        method,
        headers: { ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: isForm || typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get('content-type')?.includes('json');
      return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as T };
    },
    routePolicies: () => server.routePolicies,
    async dropDatabase() {
      await database?.drop();
    },
    goDown,
    async restart() {
      await goDown();
      server = await startServer(config, log, start);
      isUp = true;
    },
    async stop() {
      await goDown();
      await database?.drop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
};
