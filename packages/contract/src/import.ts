import { FieldChange } from './history.ts';
import { choice, Port, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const STATES = ['parsing', 'reviewing', 'failed', 'committed', 'cancelled'] as const;
const SOURCES = ['caddyfile', 'nginx', 'traefik', 'haproxy', 'nginx-proxy-manager', 'charon', 'sallyport'] as const;

/** What the spec has a file without a name be called. */
export const IMPORT_FILENAME = 'Caddyfile';
export const IMPORT_WITHOUT_FILES = 'files is required and must contain at least one file';

const place = {
  file: Type.String({ description: 'Name of the uploaded file.' }),
  line: Type.Integer({ minimum: 1, description: 'From 1.' }),
  column: Type.Optional(Type.Integer({ minimum: 1, description: 'From 1.' })),
};

export const ImportNote = Type.Object(
  { message: Type.String({ description: 'What is not as the file has it, in words.' }), ...place },
  { title: 'ImportNote' },
);
export type ImportNote = Static<typeof ImportNote>;

export const ImportError = Type.Object(
  {
    message: Type.String({ description: 'What was not understood, in words.' }),
    ...place,
    text: Type.Optional(Type.String({ description: 'The offending piece of the file.' })),
  },
  { title: 'ImportError' },
);
export type ImportError = Static<typeof ImportError>;

export const ImportSession = Type.Object(
  {
    uuid: Uuid,
    filename: Type.String({ description: 'Of several files that of the first, the main one.' }),
    state: choice(STATES, {
      description: 'parsing, then reviewing or failed; committed or cancelled in the end. Active are the first two.',
    }),
    source: Type.Union([choice(SOURCES), Type.Null()], {
      description: 'What the content turned out to be; null until it is read, and when it is nothing known.',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'ImportSession' },
);
export type ImportSession = Static<typeof ImportSession>;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const counts = {
  imported: count('Hosts that were added, or took the place of another.'),
  skipped: count('Hosts that were left out as the resolutions say.'),
  failed: count('Hosts that can not be proxy hosts; `failures` says why.'),
};

const ImportFailure = Type.Object(
  { domain: Type.String(), message: Type.String({ description: 'Why it was not imported, in words.' }), ...place },
  { title: 'ImportFailure' },
);

export const ImportOutcome = Type.Object(
  {
    ...counts,
    failures: Type.Array(ImportFailure, { description: 'One for each host that failed.' }),
    batch: Type.Union([Uuid, Type.Null()], {
      description: 'Takes all of it back: POST /history/batches/:batch/revert. Null when nothing was imported.',
    }),
    backup: Type.Union([Type.String(), Type.Null()], {
      description: 'The backup of what was there before. Null when nothing was imported.',
    }),
  },
  { title: 'ImportOutcome' },
);
export type ImportOutcome = Static<typeof ImportOutcome>;

export const ImportSessionReport = Type.Object(
  {
    ...ImportSession.properties,
    errors: Type.Array(ImportError, { description: 'Why it failed; empty otherwise.' }),
    outcome: Type.Union([Type.Object(counts), Type.Null()], { description: 'What came of it; null unless committed.' }),
  },
  { title: 'ImportSessionReport' },
);
export type ImportSessionReport = Static<typeof ImportSessionReport>;

export const ImportPreviewHost = Type.Object(
  {
    domain: Type.String({ description: 'Comma-separated names.' }),
    forward_host: Type.String(),
    forward_port: Port,
    forward_scheme: choice(['http', 'https']),
    name: Type.String({ description: 'Label; empty when the file gives none.' }),
    ...place,
    access_list: Type.Union([Type.String(), Type.Null()], {
      description: 'The access list of the source that guards it; the commit makes one here. Null without one.',
    }),
    certificate: Type.Union([Type.String(), Type.Null()], {
      description:
        'The certificate of the source that it is served with; the commit stores it with its key. Null without one.',
    }),
    warnings: Type.Array(ImportNote, { description: 'What of the site a proxy host can not express.' }),
    issue: Type.Union([Type.String(), Type.Null()], {
      description: 'Why it can not be imported, in words; it counts as failed.',
    }),
    conflicts: Type.Array(Type.String(), { description: 'Its names that belong to proxy hosts already.' }),
    existing: Type.Array(Type.Object({ uuid: Uuid, domain: Type.String() }), {
      description: 'The proxy hosts that have those names.',
    }),
    changes: Type.Array(FieldChange, {
      description: 'What overwrite would make different for those names; other fields stay as they are.',
    }),
  },
  { title: 'ImportPreviewHost' },
);
export type ImportPreviewHost = Static<typeof ImportPreviewHost>;

const previewed = {
  hosts: Type.Array(ImportPreviewHost),
  conflicts: Type.Array(Type.String(), {
    description: 'Names that belong to proxy hosts already: commit needs a resolution for each.',
  }),
  errors: Type.Array(ImportError, { description: 'What was not understood, and is not among the hosts.' }),
  warnings: Type.Array(ImportNote, { description: 'What of the files is left out and belongs to no host.' }),
};

export const ImportPreview = Type.Object({ session: ImportSession, ...previewed }, { title: 'ImportPreview' });
export type ImportPreview = Static<typeof ImportPreview>;

export const ImportStatus = Type.Object(
  {
    has_pending: Type.Boolean({ description: 'There is an active session.' }),
    session: Type.Optional(ImportSession),
  },
  { title: 'ImportStatus' },
);
export type ImportStatus = Static<typeof ImportStatus>;

const content = Type.String({ minLength: 1, description: 'Text of the file. The whole body may have 10 MiB.' });
const filename = Type.String({ minLength: 1, maxLength: 255, description: 'Name, as other files of it import it.' });
const encoding = Type.Optional(
  choice(['utf8', 'base64'], {
    description: 'How content is written: base64 for what is no text, such as a SQLite database. Default utf8.',
  }),
);

export const NewImport = Type.Object(
  {
    content,
    filename: Type.Optional({ ...filename, default: IMPORT_FILENAME, description: `Default ${IMPORT_FILENAME}.` }),
    encoding,
  },
  { title: 'NewImport' },
);
export type NewImport = Static<typeof NewImport>;

export const NewImportOfFiles = Type.Object(
  {
    files: Type.Array(Type.Object({ filename, content, encoding }), {
      minItems: 1,
      maxItems: 1_000,
      description:
        'The first is the main one; it may import the others. PEM files of certificates and keys that it names come along.',
    }),
  },
  { title: 'NewImportOfFiles' },
);
export type NewImportOfFiles = Static<typeof NewImportOfFiles>;

export const ImportOfFiles = Type.Object(
  {
    session_uuid: Uuid,
    ...previewed,
    warning: Type.String({ description: 'How many warnings there are, in words; empty without any.' }),
  },
  { title: 'ImportOfFiles' },
);
export type ImportOfFiles = Static<typeof ImportOfFiles>;

const Strategy = choice(['keep', 'overwrite', 'skip'], {
  description:
    'keep: the existing host stays, and the imported one is left out. overwrite: the imported one takes its place. skip: like keep.',
});

export const ImportCommit = Type.Object(
  {
    session_uuid: Type.String({ minLength: 1, maxLength: 64, description: 'The active session.' }),
    resolutions: Type.Optional(
      Type.Record(Type.String(), Strategy, {
        default: {},
        description: 'By name, or by the whole `domain` of an imported host.',
      }),
    ),
  },
  { title: 'ImportCommit' },
);
export type ImportCommit = Static<typeof ImportCommit>;

export const ImportCancel = Type.Object(
  { session_uuid: Type.String({ minLength: 1, maxLength: 64, description: 'The active session.' }) },
  { title: 'ImportCancel' },
);

/** So many names are asked for in one call. */
export const MOST_VERIFIED = 1_000;

export const ImportVerify = Type.Object(
  {
    session: Type.String({ minLength: 1, maxLength: 64, description: 'A committed session.' }),
    old_address: Type.String({
      minLength: 1,
      maxLength: 300,
      description:
        'Where the old proxy still answers: `host`, `host:port`, `http://host:port` or `https://host:port`. May be loopback or private.',
    }),
    old_http_port: Type.Optional({ ...Port, description: 'Its port for HTTP, if old_address does not say it.' }),
    old_https_port: Type.Optional({ ...Port, description: 'Its port for HTTPS, if old_address does not say it.' }),
    hosts: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        minItems: 1,
        maxItems: MOST_VERIFIED,
        description: `Names of the import to ask for. Default: the first ${MOST_VERIFIED}.`,
      }),
    ),
  },
  { title: 'ImportVerify' },
);
export type ImportVerify = Static<typeof ImportVerify>;

const Scheme = choice(['http', 'https']);

export const ImportDifference = Type.Object(
  {
    scheme: Scheme,
    field: choice([
      'reach',
      'status',
      'location',
      'content_type',
      'content_encoding',
      'cookies',
      'hsts',
      'body',
      'certificate',
      'http2',
    ]),
    before: Type.String({ description: 'At the old proxy; empty for nothing. At most some 200 characters.' }),
    now: Type.String({ description: 'Here; empty for nothing.' }),
    message: Type.String({ description: 'What it means and what to do, in words.' }),
  },
  { title: 'ImportDifference' },
);
export type ImportDifference = Static<typeof ImportDifference>;

export const ImportVerification = Type.Object(
  {
    session: Uuid,
    schemes: Type.Array(Scheme, { description: 'At which the old proxy takes connections; others were not compared.' }),
    asked: count('Names that both proxies were asked for.'),
    same: count('Of these, names without a difference.'),
    hosts: Type.Array(
      Type.Object({
        name: Type.String(),
        asked_as: Type.String({ description: 'Of a wildcard, a name that stands for it.' }),
        differences: Type.Array(ImportDifference),
      }),
      { description: 'Names with differences.' },
    ),
    not_asked: Type.Array(Type.String(), {
      description: `Names beyond ${MOST_VERIFIED}, or that there was no time for: give them as hosts.`,
    }),
  },
  { title: 'ImportVerification' },
);
export type ImportVerification = Static<typeof ImportVerification>;
