import type { Pair } from '../certificates/pair.ts';
import { number, object, text } from '../database/cells.ts';
import type { NamedCertificate } from '../database/certificates.ts';
import type { Row } from '../database/open.ts';
import type { SourceFile } from '../reading.ts';
import { textOf } from '../text-of.ts';

export const CERTIFICATE_COLUMNS = ['id', 'is_deleted', 'provider', 'nice_name', 'meta'];

/** `letsencrypt/live/npm-3/fullchain.pem`, `letsencrypt/archive/npm-3/privkey2.pem`, `custom_ssl/npm-3/privkey.pem`. */
const FILE = /(?:^|[/\\])npm-(\d{1,9})[/\\](fullchain|privkey)(\d{0,6})\.pem$/;

interface Version {
  fullchain?: string;
  privkey?: string;
}

/** Of the files beside a database, the certificate with its key by the id of its row: the one in use, or else the latest. */
export const pairsAmong = (files: readonly SourceFile[]): ((id: number) => Pair | undefined) => {
  const byId = new Map<number, Map<number, Version>>();
  for (const file of files) {
    const [, id, what, version] = FILE.exec(file.name) ?? [];
    if (id === undefined) continue;
    const versions = byId.get(Number(id)) ?? new Map<number, Version>();
    byId.set(Number(id), versions);
    const key = version === '' ? Number.POSITIVE_INFINITY : Number(version);
    versions.set(key, { ...versions.get(key), [what as keyof Version]: textOf(file) });
  }
  return (id) => {
    const versions = [...(byId.get(id) ?? [])].sort(([a], [b]) => (a < b ? 1 : -1));
    for (const [, { fullchain, privkey }] of versions) {
      if (fullchain !== undefined && privkey !== undefined) return { certificate: fullchain, key: privkey };
    }
    return undefined;
  };
};

/** What Nginx Proxy Manager writes to a file for nginx: the certificate, and those between it and the authority. */
const pairOf = (row: Row): Pair | undefined => {
  const meta = object(row, 'meta');
  const part = (name: string) => (typeof meta?.[name] === 'string' ? meta[name].trim() : '');
  const [certificate, key, between] = [part('certificate'), part('certificate_key'), part('intermediate_certificate')];
  if (certificate === '' || key === '') return undefined;
  return { certificate: `${[certificate, between].filter((one) => one !== '').join('\n')}\n`, key: `${key}\n` };
};

/** A row of `certificate`. Those that were uploaded there are in the database; those of Let's Encrypt are files. */
export const certificateOf = (row: Row, among: (id: number) => Pair | undefined): NamedCertificate => {
  const id = number(row, 'id');
  const name = text(row, 'nice_name') || `npm-${id}`;
  const isOwn = text(row, 'provider') === 'other';
  const where = isOwn ? `custom_ssl/npm-${id}` : `letsencrypt/live/npm-${id}`;
  return {
    name,
    pair: (isOwn ? pairOf(row) : undefined) ?? among(id),
    advice: `upload ${where}/fullchain.pem and privkey.pem with the database, or let one be issued`,
    isAutomatic: !isOwn,
  };
};
