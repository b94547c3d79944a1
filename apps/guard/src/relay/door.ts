import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { returnSocket, spoolDirectory } from '@sallyport/deployment/places';
import { proxySocketMode } from '@sallyport/deployment/proxy-account';
import { createForwarder } from './forward.ts';
import { createBodyHolder } from './held-body.ts';
import { createPlaces } from './places.ts';
import { createRelay, type RelayDeps } from './relay.ts';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const { createServer } = process.getBuiltinModule('node:http');

const KIB = 1_024;
const MIB = 1_024 * KIB;
const BODIES = {
  blockBytes: 64 * KIB,
  memory: { total: 48 * MIB, share: 16 * MIB },
  spool: { total: 1_024 * MIB, share: 256 * MIB },
  diskReserve: 64 * MIB,
} as const;
/** A quarter for one client: many may come from one address, but never all. */
const PLACES = { total: 2_048, share: 512 } as const;
/** Longer than HAProxy keeps idle connections, so that it is the one to close them. */
const KEEP_ALIVE_MS = 120_000;
/** HAProxy has no patience with a full queue of connections: it refuses at once. The kernel bounds this (net.core.somaxconn). */
const BACKLOG = 4_096;
/** HAProxy's headers fit in its buffer. */
const MAX_HEADER_BYTES = 64 * KIB;

export interface DoorDeps
  extends Pick<RelayDeps, 'policy' | 'isReady' | 'judge' | 'lanes' | 'counter' | 'counted' | 'tell'> {
  dataDir: string;
  /** Unix socket to listen on. */
  path: string;
}

/** Opens the door for requests with long bodies, and for those whose answers are inspected. Resolves when it listens. */
export const openDoor = async ({ dataDir, path, ...deps }: DoorDeps): Promise<{ stop(): void }> => {
  const directory = spoolDirectory(dataDir);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const forwarder = createForwarder(returnSocket(dataDir));
  const now = (): number => performance.now();
  const places = createPlaces({ ...PLACES, now });
  const relay = createRelay({
    ...deps,
    bodies: createBodyHolder({ directory, ...BODIES, now }),
    places,
    forwarder,
  });
  // How fast a body has to come is decided by its place; Node would end each after five minutes.
  const times = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 };
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, ...times }, relay.onRequest);
  // The relay answers this itself, once it knows that it wants the body.
  server.on('checkContinue', relay.onRequest);
  server.on('upgrade', relay.onUpgrade);
  // A worker's only relay: whatever is there was left by its predecessor.
  rmSync(path, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ path, backlog: BACKLOG }, resolve);
  });
  chmodSync(path, proxySocketMode(path));
  return {
    stop() {
      server.close();
      server.closeAllConnections();
      forwarder.stop();
      places.stop();
    },
  };
};
