import type { SourceFile } from '../reading.ts';

const BLOCK = /-----BEGIN ([A-Z0-9 ]{1,40})-----[^-]*-----END \1-----/g;
/** A chain of certificates with its key has some ten thousand characters. */
const MAX_PEM = 256 * 1024;
const BEGINS = /^\ufeff?-----BEGIN [A-Z0-9 ]{1,40}-----[\t ]*\r?$/m;
/** Also where it is indented. */
const STARTS = /^\s*-----BEGIN [A-Z0-9 ]{1,40}-----/;

/** Whether a file is of certificates and keys, and no configuration: read as one, what is secret would be quoted as not understood. */
export const isPem = ({ content }: SourceFile): boolean => BEGINS.test(content) || STARTS.test(content);

/** Whether a file is for keys by its name, whatever it holds. */
export const isKeyByName = ({ name }: SourceFile): boolean => /\.key$/i.test(name);

/** Whether a key stands somewhere in a file that may be a configuration, too. */
export const holdsKey = ({ content }: SourceFile): boolean => content.includes('PRIVATE KEY-----');

/** Whether a file is larger than any certificate with its key. */
export const tooLarge = ({ content }: SourceFile): boolean => content.length > MAX_PEM;

const blocksOf = ({ content }: SourceFile, isWanted: (kind: string) => boolean): string[] =>
  [...content.matchAll(BLOCK)].flatMap(([block, kind]) => (isWanted(kind!) ? `${block}\n` : []));

/** The certificates of a file, without keys and whatever else stands there; empty when there are none. */
export const certificatesIn = (file: SourceFile): string => blocksOf(file, (kind) => kind === 'CERTIFICATE').join('');

/** The first key of a file that needs no password. */
export const keyIn = (file: SourceFile): string | undefined =>
  blocksOf(file, (kind) => /^(?:[A-Z]+ )?PRIVATE KEY$/.test(kind) && !kind.startsWith('ENCRYPTED '))[0];
