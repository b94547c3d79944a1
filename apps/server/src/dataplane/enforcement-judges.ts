import { type AdminSocket, RuntimeUnavailable } from '@sallyport/haproxy';

/** Places in a line of `show servers state` (management guide): name of the server, and what HAProxy makes of it. */
const NAME = 3;
const STATE = 5;
const RUNNING = '2';

/** How many guards HAProxy finds fit to judge; undefined while HAProxy does not answer. */
export const countJudges = async (socket: AdminSocket): Promise<number | undefined> => {
  try {
    const lines = (await socket.ask({ words: ['show', 'servers', 'state', 'guards'] })).split('\n');
    const servers = lines.map((line) => line.split(' ')).filter((fields) => fields[NAME]?.startsWith('guard-'));
    return servers.filter((fields) => fields[STATE] === RUNNING).length;
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return undefined;
    throw error;
  }
};
