import { type AdminSocket, RuntimeUnavailable } from '@sallyport/haproxy';

/** Places in a line of `show servers state` (management guide): name of the server, and what HAProxy makes of it. */
const PROXY = 1;
const NAME = 3;
const STATE = 5;
const RUNNING = '2';

const BACKEND = /^guards_(even|odd)$/;

/** Guards of this node: how many there are, and the names of those that HAProxy does not find fit to judge. */
export interface Judges {
  total: number;
  away: readonly string[];
}

/** Asks HAProxy about the guards; undefined while it does not answer. */
export const readJudges = async (socket: AdminSocket): Promise<Judges | undefined> => {
  try {
    const lines = (await socket.ask({ words: ['show', 'servers', 'state'] })).split('\n');
    // Each guard is in the backend of its half, and stands in for the other one (packages/haproxy, config/guard.ts).
    const servers = lines.map((line) => line.split(' ')).filter((fields) => BACKEND.test(fields[PROXY] ?? ''));
    const named = (fields: readonly string[]) => fields[NAME] ?? [];
    const away = new Set(servers.filter((fields) => fields[STATE] !== RUNNING).flatMap(named));
    return { total: new Set(servers.flatMap(named)).size, away: [...away].sort() };
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return undefined;
    throw error;
  }
};
