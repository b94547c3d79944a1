import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '@sallyport/deployment/config';
import { proxyDirectory } from '@sallyport/deployment/places';
import { dataPlaneFiles } from '@sallyport/haproxy';
import { migrate } from '@sallyport/store/database/migrate';
import { openDatabase } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { ask } from '../../../../test/support/http-client.ts';
import { createChallenges } from '../features/traffic/acme/challenges/service.ts';
import { listenForChallenges } from './listen-for-challenges.ts';
import { startEnforced } from './start-enforced.ts';

const log = pino({ level: 'silent' });

/** One node: its HAProxy, and all of a server that has to do with challenges. */
export const startChallengeNode = async (config: Config, clock = () => new Date()) => {
  const node = randomUUID();
  const database = openDatabase(config);
  await migrate(database);
  const proxy = await startEnforced(config);
  const challenges = createChallenges({ dataDir: config.dataDir, database, node, clock, log });
  const running = challenges.start();
  const listener = config.databaseUrl
    ? await listenForChallenges({ database, url: config.databaseUrl, node, challenges, log })
    : undefined;
  return {
    node,
    database,
    proxy,
    challenges,
    /** Body of what is answered for a token, or the status. */
    async answers(token: string): Promise<string | number> {
      const path = `/.well-known/acme-challenge/${token}`;
      const { status, body } = await ask({ port: proxy.port, host: 'anybody.test', path });
      return status === 200 ? body : status;
    },
    file: () => readFileSync(join(proxyDirectory(config.dataDir), dataPlaneFiles.challengesMap), 'utf8'),
    /** Hears of nothing any more; HAProxy goes on. */
    endServer: async () => {
      await listener?.stop();
      await running.stop();
      await database.stop();
    },
  };
};
export type ChallengeNode = Awaited<ReturnType<typeof startChallengeNode>>;
