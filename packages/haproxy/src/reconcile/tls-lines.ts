import { isSameTarget, type TlsTarget } from './tls-entries.ts';

/** One line of HAProxy's certificate list that names server names. */
export type TlsLine = { target: TlsTarget; names: readonly string[] };

/** A line as HAProxy holds it, with the number that tells it from others of the same certificate. */
export type AppliedTlsLine = TlsLine & { number: number };

// A line costs HAProxy about 13 kB (an SSL context) whatever it holds, so names that want the same share one.
const namesPerLine = 100;

const targetKey = ({ certificate, http2 }: TlsTarget): string => `${certificate ?? 'default'} ${http2}`;

/** Groups entries into as few lines as possible. */
export const groupIntoLines = (entries: Iterable<readonly [string, TlsTarget]>): TlsLine[] => {
  const open = new Map<string, { target: TlsTarget; names: string[] }>();
  const lines: TlsLine[] = [];
  for (const [name, target] of entries) {
    const key = targetKey(target);
    let line = open.get(key);
    if (!line || line.names.length >= namesPerLine) {
      line = { target, names: [] };
      open.set(key, line);
      lines.push(line);
    }
    line.names.push(name);
  }
  return lines;
};

/**
 * The lines to add, then the lines to remove, that turn what HAProxy holds into `entries`. A line cannot be changed:
 * one with a wrong name goes, and its right names come again in a new line. Added before removed, so that no name is
 * without its certificate in between (of two lines for a name HAProxy uses the older).
 */
export const planTlsLines = (
  applied: readonly AppliedTlsLine[],
  entries: ReadonlyMap<string, TlsTarget>,
): { add: TlsLine[]; remove: AppliedTlsLine[] } => {
  const kept = new Set<string>();
  const remove: AppliedTlsLine[] = [];
  for (const line of applied) {
    const isOnce = new Set(line.names).size === line.names.length;
    const isRight =
      isOnce && line.names.every((name) => !kept.has(name) && isSameTarget(entries.get(name), line.target));
    if (!isRight || line.names.length === 0) remove.push(line);
    else for (const name of line.names) kept.add(name);
  }
  const missing = [...entries].filter(([name]) => !kept.has(name));
  return { add: groupIntoLines(missing), remove };
};
