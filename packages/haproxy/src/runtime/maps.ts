import type { AdminSocket } from './admin-socket.ts';
import { RuntimeRefused } from './runtime-errors.ts';

/** The runtime API's map commands for one map; keys and values are single words. */
export type MapCommands = {
  /** Adds an entry. HAProxy does not look for an existing one: add only what is known to be absent. */
  add(key: string, value: string): Promise<void>;
  /** Changes every entry of this key (linear search before 2.9: keep it to small maps). */
  set(key: string, value: string): Promise<void>;
  /** Removes every entry of this key (linear search before 2.9). */
  remove(key: string): Promise<void>;
  /** What a look-up finds now (a tree look-up, as for a request); undefined when nothing. */
  get(key: string): Promise<string | undefined>;
  /** Reads the entries that are in force. */
  forEach(onEntry: (key: string, value: string) => void): Promise<void>;
  /**
   * Replaces the whole map at once: entries are prepared in payloads of at most `payloadBytes`, then committed.
   * `pause` is awaited between payloads.
   */
  replace(entries: Iterable<readonly [string, string]>, options: ReplaceOptions): Promise<void>;
};

export type ReplaceOptions = { payloadBytes: number; pause?: () => Promise<void> };

const expectNothing = (command: string, reply: string): void => {
  if (reply.trim() !== '') throw new RuntimeRefused(command, reply);
};

function* payloads(entries: Iterable<readonly [string, string]>, payloadBytes: number): Generator<string[]> {
  let lines: string[] = [];
  let bytes = 0;
  for (const [key, value] of entries) {
    const line = `${key} ${value}`;
    if (bytes + line.length + 1 > payloadBytes && lines.length > 0) {
      yield lines;
      lines = [];
      bytes = 0;
    }
    lines.push(line);
    bytes += line.length + 1;
  }
  if (lines.length > 0) yield lines;
}

/** `map` is the file name as in haproxy.cfg. Methods reject with RuntimeRefused or RuntimeUnavailable. */
export const createMapCommands = (socket: AdminSocket, map: string): MapCommands => ({
  async add(key, value) {
    expectNothing('add map', await socket.ask({ words: ['add', 'map', map, key, value] }));
  },
  async set(key, value) {
    expectNothing('set map', await socket.ask({ words: ['set', 'map', map, key, value] }));
  },
  async remove(key) {
    expectNothing('del map', await socket.ask({ words: ['del', 'map', map, key] }));
  },
  async get(key) {
    const reply = await socket.ask({ words: ['get', 'map', map, key] });
    if (/\bfound=no\b/.test(reply)) return undefined;
    const found = /\bvalue="([^"]*)"/.exec(reply);
    if (!found) throw new RuntimeRefused('get map', reply);
    return found[1] ?? '';
  },
  async forEach(onEntry) {
    await socket.askLines({ words: ['show', 'map', map] }, (line) => {
      // "0x55… key value": the first word is the entry's address in HAProxy's memory.
      const keyAt = line.indexOf(' ') + 1;
      const valueAt = line.indexOf(' ', keyAt) + 1;
      if (!line.startsWith('0x') || keyAt === 0 || valueAt === 0) throw new RuntimeRefused('show map', line);
      onEntry(line.slice(keyAt, valueAt - 1), line.slice(valueAt));
    });
  },
  async replace(entries, { payloadBytes, pause }) {
    const prepared = await socket.ask({ words: ['prepare', 'map', map] });
    const version = /^New version created: (\d+)/.exec(prepared)?.[1];
    if (version === undefined) throw new RuntimeRefused('prepare map', prepared);
    for (const payload of payloads(entries, payloadBytes)) {
      expectNothing('add map', await socket.ask({ words: ['add', 'map', `@${version}`, map], payload }));
      await pause?.();
    }
    expectNothing('commit map', await socket.ask({ words: ['commit', 'map', `@${version}`, map] }));
  },
});
