import { ArchiveError } from './archive-error.ts';
import { FORMAT, MOST_HEADER_BYTES } from './layout.ts';

export const MADE = ['manual', 'scheduled', 'automatic'] as const;

/** Why a backup was made: somebody asked for it, it was time, or something was about to be changed. */
export type Made = (typeof MADE)[number];

/** How the passphrase becomes a key; its costs belong to the format. */
export interface Encryption {
  /** 16 bytes, hex. */
  salt: string;
  /** Tells a wrong passphrase from a damaged file; 16 bytes, hex. */
  check: string;
}

/** What a backup says of itself to whoever has no passphrase. */
export interface Header {
  /** Version of the product that made it. */
  product: string;
  /** ISO 8601. */
  created_at: string;
  kind: Made;
  /** What it was made before, such as `before-restore`; empty when nothing was. */
  reason: string;
  /** Null: whoever has the file reads it; secrets in it stay sealed by the key of the deployment. */
  encryption: Encryption | null;
}

const MAGIC = 'sallyport-backup';
const FIELDS = 'created_at encryption kind product reason';
const HEX_16 = /^[0-9a-f]{32}$/;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export const headerBytes = (header: Header): Buffer => Buffer.from(`${MAGIC} ${FORMAT}\n${JSON.stringify(header)}\n`);

const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);

const isEncryption = (value: unknown): value is Encryption => {
  if (typeof value !== 'object' || value === null) return false;
  const { salt, check, ...more } = value as Record<string, unknown>;
  return isText(salt, HEX_16) && isText(check, HEX_16) && Object.keys(more).length === 0;
};

const isHeader = (value: unknown): value is Header => {
  if (typeof value !== 'object' || value === null) return false;
  const { product, created_at, kind, reason, encryption } = value as Record<string, unknown>;
  return (
    Object.keys(value).sort().join(' ') === FIELDS &&
    isText(product, /^[\w.+-]{1,64}$/) &&
    isText(created_at, MOMENT) &&
    !Number.isNaN(Date.parse(created_at)) &&
    (MADE as readonly unknown[]).includes(kind) &&
    isText(reason, /^[a-z-]{0,64}$/) &&
    (encryption === null || isEncryption(encryption))
  );
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const checkFirstLine = (start: Buffer): void => {
  if (start.length === 0) throw new ArchiveError('the file is empty');
  if (start[0] === 0x1f && start[1] === 0x8b) {
    throw new ArchiveError(
      'the file is gzipped: not a backup of this format, which is the only one that can be restored',
    );
  }
  const [, version] = /^sallyport-backup (\d{1,9})\n/.exec(start.toString('latin1', 0, 64)) ?? [];
  if (version === undefined) throw new ArchiveError('the file is not a backup of Sallyport');
  if (Number(version) === FORMAT) return;
  throw new ArchiveError(`the backup has format ${Number(version)}, and this version reads format ${FORMAT} only`);
};

/**
 * Reads the two lines that a file begins with, of its first `MOST_HEADER_BYTES`; `raw` is those lines. Throws an
 * `ArchiveError` for what is no backup of this format.
 */
export const parseHeader = (start: Buffer): { header: Header; raw: Buffer } => {
  checkFirstLine(start);
  const first = start.indexOf('\n') + 1;
  const end = start.subarray(0, MOST_HEADER_BYTES).indexOf('\n', first);
  if (end < 0) throw new ArchiveError('the backup is damaged or cut off within its first lines');
  const header = parse(start.toString('utf8', first, end));
  if (!isHeader(header)) throw new ArchiveError('the backup is damaged in its second line');
  return { header, raw: start.subarray(0, end + 1) };
};
