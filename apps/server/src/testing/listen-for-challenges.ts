import type { Database } from '@sallyport/store/database/open';
import { listenForRoutes } from '@sallyport/store/database/route-notices';
import type { Logger } from 'pino';
import type { createChallenges } from '../features/traffic/acme/challenges/service.ts';

export interface ListeningNode {
  database: Database;
  /** URL of its PostgreSQL. */
  url: string;
  node: string;
  challenges: ReturnType<typeof createChallenges>;
  log: Logger;
}

/** Has a node hear what others on its PostgreSQL tell of challenges, and of nothing else. */
export const listenForChallenges = ({ challenges, ...given }: ListeningNode) =>
  listenForRoutes({
    ...given,
    onChanged: async () => {},
    onChallenges: challenges.changedElsewhere,
    onChallengesHeld: challenges.heldElsewhere,
    onGap: challenges.replay,
  });
