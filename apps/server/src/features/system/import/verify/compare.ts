import type { ImportDifference } from '@sallyport/contract';
import type { Answered, Shown, Side } from './side.ts';

/** What is stored here of the host that has the name; undefined when none has it. */
export type HostHere = { enabled: boolean; ssl_forced: boolean } | undefined;

export interface Compared {
  scheme: 'http' | 'https';
  name: string;
  before: Side;
  now: Side;
  host: HostHere;
}

type Difference = Omit<ImportDifference, 'scheme'>;

const REFUSALS = new Set([401, 403]);
const NO_ORIGIN = new Set([502, 503, 504]);
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** To a GET and a HEAD, redirects that last are the same, and those that don't are. */
const kindOf = (status: number): number => {
  if (status === 301) return 308;
  return status === 302 || status === 303 ? 307 : status;
};

const leadsToTls = ({ status, location }: Answered, name: string): boolean =>
  REDIRECTS.has(status) && location.toLowerCase().startsWith(`https://${name}/`);

/** What a page of Sallyport's own is about. */
const ownAnswer = ({ status, reference }: Answered): string => {
  if (status === 429) return `Sallyport limits how often this machine may ask (rate limit, reference ${reference})`;
  if (status === 404) return `no host that is served here has this name (reference ${reference})`;
  if (NO_ORIGIN.has(status)) {
    return `Sallyport gets no usable answer from the origin, or could not check the request (reference ${reference}): is the origin reachable from this machine?`;
  }
  return `Sallyport itself refuses this request: its firewall, an access list, or a decision (reference ${reference}): GET /security/blocks/${reference} says which`;
};

const whyStatus = ({ scheme, name, host }: Compared, before: Answered, now: Answered): string => {
  if (!host) return 'the name belongs to no proxy host any more';
  if (!host.enabled) {
    return 'the host is switched off here: protect it as its warnings in the import say, and switch it on';
  }
  if (scheme === 'http' && host.ssl_forced && leadsToTls(now, name)) {
    return 'plain HTTP is redirected to HTTPS here: unset ssl_forced unless that is meant';
  }
  if (scheme === 'http' && !host.ssl_forced && leadsToTls(before, name)) {
    return 'the old proxy redirects plain HTTP to HTTPS: set ssl_forced';
  }
  if (now.reference !== '') return ownAnswer(now);
  if (REFUSALS.has(before.status)) return 'the old proxy lets not everybody in: give the host an access list';
  return 'the site answers otherwise: compare origin, path and headers that the old proxy sent it';
};

const statusOf = (compared: Compared, before: Answered, now: Answered): Difference[] => {
  if (kindOf(before.status) !== kindOf(now.status)) {
    const message = whyStatus(compared, before, now);
    return [{ field: 'status', before: String(before.status), now: String(now.status), message }];
  }
  if (kindOf(before.headStatus) === kindOf(now.headStatus)) return [];
  const message = 'HEAD is answered otherwise, and GET the same';
  return [{ field: 'status', before: `HEAD ${before.headStatus}`, now: `HEAD ${now.headStatus}`, message }];
};

const hstsOf = ({ scheme }: Compared, before: Answered, now: Answered): string => {
  // RFC 6797, section 7.2: over plain HTTP it means nothing.
  if (scheme === 'http' || before.hsts === now.hsts) return '';
  if (now.hsts === '') return 'browsers are no longer told to use HTTPS only: set hsts_enabled';
  if (before.hsts === '') {
    return 'browsers are told to use HTTPS only, and remember it: unset hsts_enabled unless that is meant';
  }
  return 'browsers remember for another time, or for other names: see hsts_enabled and hsts_subdomains';
};

/** Of answers with the same status: with another one these only follow. */
const headersOf = (compared: Compared, before: Answered, now: Answered): Difference[] => {
  const differing = (field: 'location' | 'contentType' | 'encoding' | 'cookies', message: string) =>
    before[field] === now[field] ? '' : message;
  const found: [ImportDifference['field'], string, string, string][] = [
    ['location', before.location, now.location, differing('location', 'the redirect leads elsewhere')],
    ['content_type', before.contentType, now.contentType, differing('contentType', 'the content is of another type')],
    [
      'content_encoding',
      before.encoding,
      now.encoding,
      differing(
        'encoding',
        now.encoding === ''
          ? 'the old proxy compresses answers, which Sallyport leaves to the origin'
          : 'answers are compressed otherwise',
      ),
    ],
    ['cookies', before.cookies, now.cookies, differing('cookies', 'other cookies are set')],
    ['hsts', before.hsts, now.hsts, hstsOf(compared, before, now)],
  ];
  return found
    .filter(([, , , message]) => message !== '')
    .map(([field, old, here, message]) => ({ field, before: old, now: here, message }));
};

const inWords = ({ names, issuer, until }: Shown): string => `${names}; issued by ${issuer}; until ${until}`;

const whyCertificate = ({ name }: Compared, before: Shown, now: Shown | undefined): string => {
  // What the old proxy had for nobody in particular is not missed.
  if (!before.isForName) return '';
  if (now?.fingerprint === before.fingerprint) return '';
  if (!now || now.isDefault) return `no certificate for ${name} here: upload it`;
  if (!now.isForName) return `the certificate here is not for ${name}: upload the one of the old proxy`;
  if (now.issuer !== before.issuer) return 'another certificate, of another issuer: fine if that is meant';
  if (now.names !== before.names) return 'another certificate, for other names besides';
  if (now.until !== before.until) return 'another certificate of the same issuer, valid for another time';
  return '';
};

const tlsOf = (compared: Compared, before: Answered, now: Answered): Difference[] => {
  if (compared.scheme === 'http' || !before.certificate) return [];
  const message = whyCertificate(compared, before.certificate, now.certificate);
  const shown = now.certificate ? inWords(now.certificate) : '';
  return [
    ...(message === ''
      ? []
      : [{ field: 'certificate' as const, before: inWords(before.certificate), now: shown, message }]),
    ...(before.offersHttp2 && !now.offersHttp2
      ? [{ field: 'http2' as const, before: 'offered', now: 'not offered', message: 'HTTP/2 is not offered here' }]
      : []),
  ];
};

const differencesOf = (compared: Compared): Difference[] => {
  const { before, now } = compared;
  // A scheme that the old proxy does not serve is nothing that could be lost.
  if ('silent' in before) return [];
  if ('silent' in now) {
    const message = `nothing answers here (${now.silent}): is Sallyport's proxy running, and its listener open?`;
    return [{ field: 'reach', before: String(before.status), now: '', message }];
  }
  const status = statusOf(compared, before, now);
  const isOther = status.some((one) => !one.before.startsWith('HEAD'));
  return [...status, ...(isOther ? [] : headersOf(compared, before, now)), ...tlsOf(compared, before, now)];
};

/** Where the new proxy answers otherwise than the old one, but for the body: in words, with what to do. */
export const compareSides = (compared: Compared): ImportDifference[] =>
  differencesOf(compared).map((one) => ({ scheme: compared.scheme, ...one }));

/** Whether both answer alike and only the content is another one. */
export const haveOtherBodies = (before: Side, now: Side): boolean =>
  !('silent' in before) &&
  !('silent' in now) &&
  before.status === now.status &&
  before.status === 200 &&
  before.digest !== now.digest;
