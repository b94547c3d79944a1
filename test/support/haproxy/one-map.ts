import { type AnsweringSocket, answerAt } from './answering-socket.ts';

/** What is at HAProxy's admin socket in its place. */
export type OneMap = AnsweringSocket & {
  /** Lines of its map. */
  held(): readonly string[];
};

/** Listens at `path` as a HAProxy that has one map, which is replaced as a whole, and asked. */
export const holdOneMap = async (path: string): Promise<OneMap> => {
  let held: string[] = [];
  let prepared: string[] = [];
  const haproxy = await answerAt(path, (command) => {
    const [first = '', ...lines] = command.split('\n');
    if (first.startsWith('prepare map')) prepared = [];
    if (first.startsWith('add map')) prepared.push(...lines);
    if (first.startsWith('commit map')) held = prepared;
    const key = /^get map \S+ (\S+)/.exec(first)?.[1];
    const value = held.find((line) => line.startsWith(`${key} `))?.split(' ')[1];
    if (key !== undefined)
      return value === undefined ? 'type=map, found=no\n' : `type=map, found=yes, value="${value}"\n`;
    return first.startsWith('prepare') ? 'New version created: 1\n' : '\n';
  });
  return { ...haproxy, held: () => held };
};
