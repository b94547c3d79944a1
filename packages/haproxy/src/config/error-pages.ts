import { dataPlaneFiles } from './layout.ts';
import { reference } from './reference.ts';

/** Answers the proxy gives itself: status → what the page says unless a rule set `txn.message`. */
export const ownAnswers: ReadonlyMap<number, { title: string; message: string }> = new Map([
  [400, { title: 'Bad request', message: 'This request could not be understood.' }],
  [403, { title: 'Request refused', message: 'This request was refused.' }],
  [404, { title: 'Unknown host', message: 'No site is configured under this name.' }],
  [405, { title: 'Method not allowed', message: 'This method is not allowed here.' }],
  [408, { title: 'Request too slow', message: 'This request came in too slowly. Please try again.' }],
  [413, { title: 'Request too large', message: 'This request is larger than this site takes.' }],
  [429, { title: 'Too many requests', message: 'Too many requests. Please slow down.' }],
  [502, { title: 'Bad gateway', message: 'The site gave no usable answer.' }],
  [503, { title: 'Site unavailable', message: 'The site cannot be reached at the moment.' }],
  [504, { title: 'Gateway timeout', message: 'The site took too long to answer.' }],
]);

/** The same for statuses that HAProxy can't be given a page for: rules answer with them, see `ownAnswer`. */
const returnedAnswers: typeof ownAnswers = new Map([
  [508, { title: 'Loop detected', message: 'This site forwards to itself.' }],
  [507, { title: 'No room', message: 'There is no room for a request of this size at the moment. Please try again.' }],
]);

/** Numbers of connection errors that mean that a TLS handshake failed (fc_err_str in HAProxy's manual, "SSL"). */
const tlsErrors = [...Array.from({ length: 15 }, (_, index) => 24 + index), 43];

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:15vh auto 0;max-width:34em;padding:0 1.5em;color:#1c2733;background:#f7f9fb}' +
  'h1{font-size:1.5em;margin:0 0 .4em}code{font-size:.9em}footer{margin-top:2em;color:#5b6b7b;font-size:.85em}' +
  '@media(prefers-color-scheme:dark){body{color:#e3e9ef;background:#12181f}footer{color:#93a1b0}}';

const htmlFragments = (status: number, title: string): [string, string][] => [
  [
    `html-${status}-open`,
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">` +
      `<meta name="robots" content="noindex"><title>${status} ${title}</title><style>${style}</style></head>` +
      `<body><h1>${title}</h1><p>`,
  ],
  [`html-${status}-reference`, `</p><footer>Status ${status}<br>Reference <code>`],
  [`html-${status}-close`, '</code></footer></body></html>'],
];

const jsonFragments = (status: number): [string, string][] => [
  [`json-${status}-open`, '{"error":"'],
  [`json-${status}-reference`, `","code":${status},"reference":"`],
  [`json-${status}-close`, '"}'],
];

/**
 * The pieces of every page as a map file (key, space, value). HAProxy's own 502, 503 and 504 take one `http-error`
 * each, so the choice between HTML and JSON has to happen inside the body, piece by piece.
 */
export const renderPageFragments = (): string =>
  [...ownAnswers, ...returnedAnswers]
    .flatMap(([status, { title }]) => [...htmlFragments(status, title), ...jsonFragments(status)])
    // HAProxy drops a space in front of a value, but not one that does not break.
    .concat(tlsErrors.map((error) => [`${error}-origin`, '\u00a0No secure connection to it could be made.']))
    .map(([key, value]) => `${key} ${value}\n`)
    .join('');

const piece = (status: number, name: string): string =>
  `%[var(txn.page,html),concat(-${status}-${name}),map_str(${dataPlaneFiles.pageFragments})]`;

const securityHeaders = [
  'hdr X-Content-Type-Options nosniff',
  'hdr X-Frame-Options DENY',
  'hdr Referrer-Policy no-referrer',
  'hdr Cache-Control no-store',
  `hdr Content-Security-Policy "default-src 'none'; style-src 'unsafe-inline'"`,
  `hdr X-Sallyport-Reference %[${reference}]`,
].join(' ');

/** Empty unless the origin's TLS is to blame. */
const tlsFailure = `%[bc_err,concat(-origin),map_str(${dataPlaneFiles.pageFragments})]`;

/** Status, page and headers of one answer; a message is one of ours, never text of the client. */
const reply = (status: number, message: string): string =>
  `status ${status} content-type "text/html; charset=utf-8" ` +
  `lf-string '${piece(status, 'open')}%[var(txn.message,"${message}")]${status === 503 ? tlsFailure : ''}${piece(status, 'reference')}` +
  `%[${reference}]${piece(status, 'close')}' ${securityHeaders}${status === 429 ? ' hdr Retry-After %[var(txn.retry_after,1)]' : ''}`;

/** One `http-error` line per status. */
export const errorReplies = (): string =>
  [...ownAnswers].map(([status, { message }]) => `  http-error ${reply(status, message)}\n`).join('');

/** What a rule `return`s for a status that has no `http-error`. */
export const ownAnswer = (status: 507 | 508): string => reply(status, returnedAnswers.get(status)?.message ?? '');
