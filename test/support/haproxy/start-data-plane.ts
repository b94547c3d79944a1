import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ConfigSettings,
  createDataPlane,
  type DataPlane,
  type DataPlaneEvent,
  type DataPlaneOptions,
  type DesiredHost,
  dataPlaneFiles,
  defaultSettings,
  writeStaticFiles,
} from '@sallyport/haproxy';
import { freePort } from '../free-ports.ts';
import { enforceNothing } from './enforce-nothing.ts';
import { type HaproxyProcess, spawnHaproxy } from './haproxy-process.ts';

export type RunningDataPlane = {
  directory: string;
  settings: ConfigSettings;
  httpPort: number;
  httpsPort: number;
  dataPlane: DataPlane;
  haproxy: HaproxyProcess;
  events: DataPlaneEvent[];
  /** Resolves with the next event of this type that comes from now on. */
  nextEvent<T extends DataPlaneEvent['type']>(type: T): Promise<Extract<DataPlaneEvent, { type: T }>>;
  /** Starts HAProxy again, from the files as they are; resolves when the driver has looked it over. */
  restartHaproxy(): Promise<void>;
  /** Applies hosts and fails unless every one is live. */
  serve(...hosts: DesiredHost[]): Promise<void>;
  stop(): Promise<void>;
};

/** A real HAProxy with an empty data plane, and the driver that steers it. */
export const startDataPlane = async (
  overrides: Partial<ConfigSettings> = {},
  driverOptions: Partial<DataPlaneOptions> = {},
): Promise<RunningDataPlane> => {
  const directory = await mkdtemp(join(tmpdir(), 'sp-haproxy-'));
  const httpPort = await freePort();
  const httpsPort = await freePort();
  const settings: ConfigSettings = {
    ...defaultSettings,
    http: [
      { address: '127.0.0.1', port: httpPort },
      { address: '::1', port: httpPort },
    ],
    https: [{ address: '127.0.0.1', port: httpsPort }],
    publicHttpsPort: httpsPort,
    adminSocket: join(directory, 'admin.sock'),
    maxConnections: 1000,
    ...overrides,
  };
  await writeStaticFiles(directory, settings);
  enforceNothing(directory);

  const events: DataPlaneEvent[] = [];
  const waiting = new Set<(event: DataPlaneEvent) => void>();
  const nextEvent = <T extends DataPlaneEvent['type']>(type: T) =>
    new Promise<Extract<DataPlaneEvent, { type: T }>>((resolve) => {
      const listener = (event: DataPlaneEvent): void => {
        if (event.type !== type) return;
        waiting.delete(listener);
        resolve(event as Extract<DataPlaneEvent, { type: T }>);
      };
      waiting.add(listener);
    });
  const config = join(directory, dataPlaneFiles.config);
  const connected = nextEvent('connected');
  const dataPlane = createDataPlane({
    directory,
    adminSocket: settings.adminSocket,
    ...driverOptions,
    onEvent(event) {
      events.push(event);
      for (const listener of [...waiting]) listener(event);
    },
  });
  await dataPlane.reconcile({ hosts: [], certificates: [] });
  const running: RunningDataPlane = {
    directory,
    settings,
    httpPort,
    httpsPort,
    dataPlane,
    haproxy: spawnHaproxy(config),
    events,
    nextEvent,
    async restartHaproxy() {
      const back = nextEvent('connected');
      running.haproxy = spawnHaproxy(config);
      await back;
    },
    async serve(...hosts) {
      const outcomes = await dataPlane.applyHosts(hosts.map((host) => ({ type: 'put', host })));
      for (const [id, outcome] of outcomes) if (!outcome.applied) throw new Error(`host ${id}: ${outcome.issue}`);
    },
    async stop() {
      await dataPlane.stop();
      await running.haproxy.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
  await Promise.race([
    connected,
    running.haproxy.exited.then(() => {
      throw new Error(`HAProxy did not start:\n${running.haproxy.output()}`);
    }),
  ]);
  return running;
};
