import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import type { SiteAnswers } from '../../../../net/ask-site.ts';

/** What a proxy shows over TLS of the certificate for a name. */
export interface Shown {
  names: string;
  issuer: string;
  until: string;
  fingerprint: string;
  isForName: boolean;
  /** The one that Sallyport has for names without any. */
  isDefault: boolean;
}

/** What one proxy answers for a name over one scheme, as far as it is compared; texts are empty for headers that are missing. */
export interface Answered {
  status: number;
  headStatus: number;
  location: string;
  contentType: string;
  encoding: string;
  hsts: string;
  /** Names of cookies, sorted. */
  cookies: string;
  /** Undefined for a body that is too large to be compared. */
  digest: string | undefined;
  /** Of a page of Sallyport's own. */
  reference: string;
  certificate: Shown | undefined;
  offersHttp2: boolean;
}

/** An answer, or in words why there is none. */
export type Side = Answered | { silent: string };

/** The common name of the certificate that HAProxy is started with. */
const DEFAULT_NAME = 'sallyport.invalid';
/** What is shown of a header; an administrator can look for the rest with curl. */
const LONGEST_TEXT = 200;

const clip = (text: string): string => (text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text);

/** Directives in one spelling. */
const spelled = (text: string): string =>
  text
    .toLowerCase()
    .split(';')
    .map((one) => one.trim())
    .filter(Boolean)
    .join('; ');

/** Without the port that this proxy listens on: it is another one at the other proxy, and means the same. */
const locationOf = (location: string, scheme: string, name: string, ports: readonly number[]): string => {
  const base = `${scheme}://${name.includes(':') ? `[${name}]` : name}/`;
  if (location === '' || !URL.canParse(location, base)) return location;
  const url = new URL(location, base);
  if (url.hostname === new URL(base).hostname && ports.includes(Number(url.port))) url.port = '';
  return url.href;
};

const shownOf = ({ certificate }: NonNullable<SiteAnswers['greeting']>, name: string): Shown | undefined => {
  if (!certificate) return undefined;
  const { subject, issuer, subjectAltName = '', validTo, validToDate, fingerprint256 } = certificate;
  const line = (text: string): string => text.split('\n').join(', ');
  return {
    names: clip(subjectAltName.replaceAll('DNS:', '') || line(subject)),
    issuer: clip(line(issuer)),
    until: Number.isNaN(validToDate.getTime()) ? clip(validTo) : validToDate.toISOString().slice(0, 10),
    fingerprint: fingerprint256,
    isForName: (isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name)) !== undefined,
    isDefault: subject === `CN=${DEFAULT_NAME}` && issuer === subject,
  };
};

/** What there is to compare of an answer. `ports`: those that this proxy listens on. */
export const toSide = (
  { head, get, greeting }: SiteAnswers,
  { scheme, name, ports }: { scheme: 'http' | 'https'; name: string; ports: readonly number[] },
): Answered => {
  const { headers, body } = get;
  const cookies = (headers['set-cookie'] ?? []).map((cookie) => cookie.split('=', 1)[0]?.trim() ?? '');
  const reference = headers['x-sallyport-reference'];
  return {
    status: get.status,
    headStatus: head.status,
    location: clip(locationOf(headers.location ?? '', scheme, name, ports)),
    contentType: clip(spelled(headers['content-type'] ?? '')),
    encoding: clip(headers['content-encoding'] ?? ''),
    hsts: clip(spelled(headers['strict-transport-security'] ?? '')),
    cookies: clip([...new Set(cookies)].sort().join(', ')),
    digest: body && createHash('sha256').update(body).digest('hex'),
    reference: typeof reference === 'string' ? clip(reference) : '',
    certificate: greeting && shownOf(greeting, name),
    offersHttp2: greeting?.offersHttp2 ?? false,
  };
};
