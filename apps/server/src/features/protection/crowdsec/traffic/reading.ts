import { createReadStream, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

const NEWLINE = 0x0a;

/** How far a process has read a file that it holds open; undefined when it does not hold it, or that can't be seen. */
const positionIn = (pid: number, path: string): number | undefined => {
  try {
    const { dev, ino } = statSync(path);
    for (const fd of readdirSync(`/proc/${pid}/fd`)) {
      const link = `/proc/${pid}/fd/${fd}`;
      if (!readlinkSync(link).startsWith('/')) continue;
      const held = statSync(link);
      if (held.ino !== ino || held.dev !== dev) continue;
      return Number(/^pos:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8'))?.[1]);
    }
  } catch {
    // It ended meanwhile, or may not be looked at.
  }
  return undefined;
};

/** Lines of a file that a process has yet to read; undefined when it can't be told. A file that it had before is not counted. */
export const linesUnread = async (pid: number, path: string): Promise<number | undefined> => {
  const position = positionIn(pid, path);
  if (position === undefined || Number.isNaN(position)) return undefined;
  let lines = 0;
  for await (const chunk of createReadStream(path, { start: position })) {
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) lines += 1;
  }
  return lines;
};
