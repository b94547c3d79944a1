/**
 * Writes every file HAProxy starts from, out of the store: run before each start of HAProxy, whether the server is
 * alive or not. Looks up no origin name; those that were never looked up get their address from the server.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backUpBeforeMigration } from '@sallyport/backup/shelf/before-migration';
import { parseConfig } from '@sallyport/deployment/config';
import { prepareDataDir } from '@sallyport/deployment/data-dir';
import { failureLines } from '@sallyport/deployment/failure-lines';
import { createLog, logOutput } from '@sallyport/deployment/log';
import { adminSocket, proxyDirectory } from '@sallyport/deployment/places';
import { createDataPlane, dataPlaneFiles, removeLeftovers, writeStaticFiles } from '@sallyport/haproxy';
import { pendingResets } from '@sallyport/recovery/pending';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { openStoreVault } from '@sallyport/store/secrets/store-vault';
import { renderChallenges } from '../dataplane/challenges/plane.ts';
import { haproxyProgram, ownListeners, toProxySettings } from '../dataplane/proxy-settings.ts';
import { createOriginGuard, createOwnOrigin } from '../dataplane/routes/origins/guard.ts';
import { createOriginResolver } from '../dataplane/routes/origins/resolver.ts';
import { originAddressStore } from '../dataplane/routes/origins/store.ts';
import { createPlane } from '../dataplane/routes/plane.ts';
import type { RouteSource } from '../dataplane/routes/source.ts';
import { createSecuritySource, findCoreRuleSet } from '../features/protection/stored.ts';
import { createRouteSource, storedChallenges } from '../features/traffic/stored.ts';
import { systemLookup } from '../net/system-lookup.ts';
import { renderEnforcement, renderOpen } from './protection.ts';

const LOOKUP_TIMEOUT_MS = 1;
/** How long one answer of the store may take: HAProxy, on the files of its last run, is better than none. */
const STORE_ANSWERS_WITHIN_MS = 25_000;
/** Under constant changes the server repairs the rest as soon as HAProxy answers. */
const MOST_RENDERINGS = 5;

const render = async (): Promise<void> => {
  process.umask(0o077);
  const config = parseConfig(process.env, process.cwd());
  prepareDataDir(config.dataDir);
  const directory = proxyDirectory(config.dataDir);
  await removeLeftovers(directory);
  const isResetPending = () => pendingResets(config.dataDir).length > 0;
  // Before anything that may fail: what has kept the reset from being stored may keep the store from being read.
  if (isResetPending()) await renderOpen(config.dataDir);
  // Should the store not be readable, HAProxy starts on the files of its last run, and needs all of them: one that was
  // lost is made empty, which refuses.
  if (existsSync(join(directory, dataPlaneFiles.config))) await writeStaticFiles(directory, toProxySettings(config));
  let patience: NodeJS.Timeout | undefined;
  const answered = () => clearTimeout(patience);
  const asked = () => {
    answered();
    patience = setTimeout(() => {
      process.stderr.write('sallyport: the store does not answer\n');
      process.exit(1);
    }, STORE_ANSWERS_WITHIN_MS);
  };
  asked();
  const database = openDatabase(config);
  await backUpBeforeMigration(database, config);
  asked();
  await migrate(database);
  asked();
  const isOwnApi = createOwnOrigin(() => config.httpBind);
  const security = createSecuritySource({
    db: database.kysely,
    isOwnApi,
    isResetPending,
  });
  const enforce = () => renderEnforcement({ config, source: security, core: findCoreRuleSet, clock: () => new Date() });
  const version = async () =>
    `${await security.revision()} ${JSON.stringify(await security.switches())} ${await security.decisionVersion()}`;
  let rendered = await version();
  // First of all: whatever keeps the rest from being written, what is served is never served without it.
  await enforce();
  asked();
  const vault = await openStoreVault(database, config);
  const resolver = createOriginResolver({
    store: originAddressStore(database.kysely),
    lookup: systemLookup,
    clock: () => new Date(),
    timeoutMs: LOOKUP_TIMEOUT_MS,
  });
  await resolver.load();
  const driver = createDataPlane({ directory, adminSocket: adminSocket(config.dataDir), haproxy: haproxyProgram() });
  const stored = createRouteSource(database.kysely, vault);
  const source: RouteSource = {
    ...stored,
    async *allHosts() {
      for await (const portion of stored.allHosts()) {
        asked();
        yield portion;
      }
      answered();
    },
  };
  const log = createLog('render', 'warn', logOutput(config.logFormat));
  const plane = createPlane({
    driver,
    source,
    resolver,
    reservedOrigin: createOriginGuard(() => ownListeners(config)),
    isOwnApi,
    log,
  });
  // A server that is alive goes on changing the store, and its own writes may come before ours: what was acknowledged
  // while we rendered must not be missing from the files that HAProxy is about to read.
  for (let attempt = 1; ; attempt++) {
    await plane.render();
    asked();
    const now = await version();
    if (now === rendered || attempt === MOST_RENDERINGS) break;
    rendered = now;
    await enforce();
  }
  // At last, so that they are what HAProxy would have answered without its restart.
  await renderChallenges(config.dataDir, await storedChallenges(database.kysely, new Date()), log);
  asked();
  await driver.stop();
  await database.stop();
};

render().then(
  // What is still open (a look-up under way) must not hold HAProxy's start up.
  () => process.exit(0),
  (error: unknown) => {
    for (const line of failureLines(error)) process.stderr.write(`sallyport: ${line}\n`);
    process.exit(1);
  },
);
