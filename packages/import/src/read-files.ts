import { atMost } from './at-most.ts';
import { readCaddyfile } from './caddyfile/read.ts';
import { Beside } from './certificates/beside.ts';
import { holdsKey, isKeyByName, isPem } from './certificates/pem.ts';
import { cleanReading } from './clean.ts';
import { readHaproxy } from './haproxy/read.ts';
import { readNginx } from './nginx/read.ts';
import { databaseAmong, readDatabase } from './read-database.ts';
import type { Reading, SourceError, SourceFile } from './reading.ts';
import { readSallyport } from './sallyport/read.ts';
import { shorten } from './shorten.ts';
import { textOf } from './text-of.ts';
import { readTraefik } from './traefik/read.ts';

/** A kind of configuration that is told from its text; without `read` it can not be read yet. */
interface Recognised {
  what: string;
  read?: (files: readonly SourceFile[], beside: Beside) => Reading;
  /** All of them have to be there. */
  signs: readonly RegExp[];
}

/** Looked for at the beginning of a text: what it is shows early, and a pattern should not walk through ten megabytes. */
const BEGINNING = 100_000;

const MAX_UNUSED = 100;

const RECOGNISED: readonly Recognised[] = [
  { what: 'a configuration of Sallyport', read: readSallyport, signs: [/^sallyport:[\t ]*\d/m] },
  { what: 'a configuration of Sallyport', read: readSallyport, signs: [/^\s*\{/, /"sallyport"\s*:\s*\d/] },
  { what: 'JSON', signs: [/^\s*[[{]\s*(?:"|[\]}])/] },
  {
    what: 'a configuration of nginx',
    read: readNginx,
    signs: [/^[\t ]*(?:server|http|events|upstream[\t ]+[\w.-]+)[\t ]*\{/m, /;[\t ]*(?:[#}].*)?\r?$/m],
  },
  {
    what: 'a configuration of HAProxy',
    read: readHaproxy,
    signs: [/^(?:frontend|backend|listen)[\t ]+\S+[\t ]*\r?$/m, /^[\t ]+(?:bind|server)[\t ]/m],
  },
  { what: 'Traefik (YAML)', read: readTraefik, signs: [/^http:[\t ]*\r?$/m, /^[\t ]+routers:[\t ]*\r?$/m] },
  { what: 'Traefik (TOML)', read: readTraefik, signs: [/^[\t ]*\[http\.routers[.\]]/m] },
  { what: 'Traefik (static)', read: readTraefik, signs: [/^(?:entryPoints:[\t ]*\r?$|\[entryPoints[.\]])/m] },
  { what: 'labels for Traefik', read: readTraefik, signs: [/^services:[\t ]*\r?$/m, /\btraefik\.(?:enable|http)\b/] },
];

const looksLike = (text: string): Recognised | undefined =>
  RECOGNISED.find(({ signs }) => signs.every((sign) => sign.test(text)));

const asText = (file: SourceFile): SourceFile => ({ name: file.name, content: textOf(file) });

/** Why a file is no configuration; undefined for one that may be. What is secret would be quoted as not understood. */
const whyNone = ({ encoding }: SourceFile, text: SourceFile): string | undefined => {
  if (isPem(text) || isKeyByName(text)) return 'this is a certificate or a key, and no configuration';
  const beginning = text.content.slice(0, BEGINNING);
  const [hasNul, isBroken] = [beginning.includes('\0'), beginning.includes('\ufffd')];
  const isBinary = encoding === 'base64' ? hasNul || isBroken : hasNul && isBroken;
  return isBinary ? 'this is neither text nor a SQLite database; certificates and keys have to be PEM' : undefined;
};

/** A reading that also tells of the certificates and keys that nothing names. */
const withUnused = (reading: Reading, beside: Beside): Reading =>
  reading.hosts.length === 0
    ? reading
    : { ...reading, warnings: [...reading.warnings, ...atMost(MAX_UNUSED, beside.unused())] };

const readSource = (uploaded: readonly SourceFile[]): Reading => {
  const database = databaseAmong(uploaded);
  if (database) return readDatabase(database, uploaded);
  const texts = uploaded.map(asText);
  const files: SourceFile[] = [];
  const others: SourceError[] = [];
  for (const [index, text] of texts.entries()) {
    const message = whyNone(uploaded[index]!, text);
    if (message === undefined) files.push(text);
    // What stands there is not quoted: it may be a key.
    else others.push({ file: text.name, line: 1, column: 1, message });
  }
  if (files.length === 0 && texts.length > 0)
    return { source: null, hosts: [], warnings: [], errors: others, staticFiles: [] };
  const beside = new Beside(texts.filter(isPem));
  const reading = withUnused(readCaddyfile(files, beside), beside);
  const [main] = files;
  // Asked last: whatever makes sense as a Caddyfile is one.
  const other = main && reading.hosts.length === 0 ? looksLike(main.content.slice(0, BEGINNING)) : undefined;
  if (!main || other === undefined) return reading;
  if (other.read) return withUnused(other.read(files, beside), beside);
  const message = `this looks like ${other.what}, which can not be imported yet`;
  const text = shorten(main.content.trimStart().split('\n')[0] ?? '', 200);
  return {
    ...reading,
    warnings: [],
    errors: [{ file: main.name, line: 1, column: 1, message, text }],
    staticFiles: [],
  };
};

/**
 * Reads files of another proxy's configuration, the main one first, whatever it is of: told from the content. Never throws because of
 * what the files say. What it says may be shown in a terminal.
 */
export const readFiles = (uploaded: readonly SourceFile[]): Reading => {
  const reading = readSource(uploaded);
  const said = [reading.hosts, reading.errors, reading.warnings, reading.staticFiles];
  const secret = new Set(uploaded.filter((file) => holdsKey(asText(file))).map(({ name }) => name));
  // Empty, or all of it is comments.
  const isEmpty = said.every((one) => one.length === 0);
  const message = 'there is nothing in it that could be imported';
  const errors = isEmpty ? [{ file: uploaded[0]?.name ?? '', line: 1, column: 1, message, text: '' }] : reading.errors;
  return cleanReading({ ...reading, errors }, (file) => secret.has(file));
};
