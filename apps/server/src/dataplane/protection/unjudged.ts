import { type AdminSocket, RuntimeUnavailable } from '@sallyport/haproxy';

const countOf = (table: string, name: string): number => Number(new RegExp(`${name}=(\\d+)`).exec(table)?.[1] ?? 0);

/** Reads how many requests had no verdict, from HAProxy's table `unjudged`; undefined while HAProxy does not answer. */
export const readUnjudged = async (socket: AdminSocket): Promise<{ refused: number; passed: number } | undefined> => {
  try {
    const table = await socket.ask({ words: ['show', 'table', 'unjudged'] });
    const passed = countOf(table, 'gpc1');
    return { refused: countOf(table, 'gpc0') - passed, passed };
  } catch (error) {
    if (error instanceof RuntimeUnavailable) return undefined;
    throw error;
  }
};
