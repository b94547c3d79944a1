import type { AdminSocket } from './admin-socket.ts';
import type { Command } from './command.ts';
import { RuntimeRefused } from './runtime-errors.ts';

/** A line of a certificate list as `show ssl crt-list -n` prints it. */
export type CrtListLine = { store: string; number: number; isHttp1Only: boolean; names: readonly string[] };

/** The runtime API's certificate commands for one crt-list. Methods reject with RuntimeRefused or RuntimeUnavailable. */
export type CertificateCommands = {
  /** Creates or replaces a certificate at once for every line that uses it. `pem`: no empty lines. */
  put(store: string, pem: string): Promise<void>;
  /** Forgets a certificate that no line uses. */
  remove(store: string): Promise<void>;
  /** Names of all certificate stores. */
  stores(): Promise<string[]>;
  /** SHA-1 fingerprint of the leaf in upper-case hex; undefined when there is no such store, or an empty one. */
  fingerprint(store: string): Promise<string | undefined>;
  lines(): Promise<CrtListLine[]>;
  addLine(line: Omit<CrtListLine, 'number'>): Promise<void>;
  removeLine(store: string, number: number): Promise<void>;
};

const linePattern = /^(.+):(\d+)(?: \[([^\]]*)\])?(.*)$/;

const parseLine = (text: string): CrtListLine | undefined => {
  if (text.startsWith('#')) return undefined;
  const parts = linePattern.exec(text);
  if (!parts) throw new RuntimeRefused('show ssl crt-list', text);
  const [, store = '', number = '', options = '', names = ''] = parts;
  return {
    store,
    number: Number(number),
    isHttp1Only: options.includes('alpn') && !options.includes('h2'),
    names: names.split(' ').filter((name) => name !== ''),
  };
};

/** One line of a crt-list file, which is also the payload of `add ssl crt-list` (manual 5.1, crt-list). */
export const crtListLine = ({ store, isHttp1Only, names }: Omit<CrtListLine, 'number'>): string =>
  [store, ...(isHttp1Only ? ['[alpn http/1.1]'] : []), ...names].join(' ');

/** `crtList` is the file name as in haproxy.cfg. */
export const createCertificateCommands = (socket: AdminSocket, crtList: string): CertificateCommands => {
  const expect = async (command: Command, success: RegExp): Promise<void> => {
    const reply = await socket.ask(command);
    if (!success.test(reply)) throw new RuntimeRefused(command.words.join(' '), reply);
  };
  return {
    async put(store, pem) {
      const created = await socket.ask({ words: ['new', 'ssl', 'cert', store] });
      const isNew = created.startsWith('New empty');
      if (!isNew && !created.includes('already exists')) throw new RuntimeRefused('new ssl cert', created);
      try {
        const payload = pem.split('\n').filter((line) => line !== '');
        await expect({ words: ['set', 'ssl', 'cert', store], payload }, /Transaction (?:created|updated)/);
        await expect({ words: ['commit', 'ssl', 'cert', store] }, /Success!/);
      } catch (error) {
        if (error instanceof RuntimeRefused) {
          // Leave no half-done transaction and no empty store behind.
          await socket.ask({ words: ['abort', 'ssl', 'cert', store] });
          if (isNew) await socket.ask({ words: ['del', 'ssl', 'cert', store] });
        }
        throw error;
      }
    },
    remove: (store) => expect({ words: ['del', 'ssl', 'cert', store] }, /' deleted!/),
    async stores() {
      const stores: string[] = [];
      await socket.askLines({ words: ['show', 'ssl', 'cert'] }, (line) => {
        // "*name" is a transaction that was begun, not a store.
        if (!line.startsWith('#') && !line.startsWith('*')) stores.push(line);
      });
      return stores;
    },
    async fingerprint(store) {
      const reply = await socket.ask({ words: ['show', 'ssl', 'cert', store] });
      return /^SHA1 FingerPrint: ([0-9A-F]{40})$/m.exec(reply)?.[1];
    },
    async lines() {
      const lines: CrtListLine[] = [];
      await socket.askLines({ words: ['show', 'ssl', 'crt-list', '-n', crtList] }, (text) => {
        const line = parseLine(text);
        if (line) lines.push(line);
      });
      return lines;
    },
    addLine: (line) => expect({ words: ['add', 'ssl', 'crt-list', crtList], payload: [crtListLine(line)] }, /Success!/),
    removeLine: (store, number) =>
      expect({ words: ['del', 'ssl', 'crt-list', crtList, `${store}:${number}`] }, /deleted in crtlist/),
  };
};
