import { SHORTEST_PASSPHRASE } from './backup.ts';
import { ignoring } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['type', 'default', 'description', 'options', 'is_secret', 'is_set', 'notice'];

export const Setting = Type.Object(
  {
    key: Type.String(),
    value: Type.String(),
    notice: Type.Optional(
      Type.String({ description: 'What follows from it that one may not expect; absent when there is nothing.' }),
    ),
  },
  { title: 'Setting' },
);
export type Setting = Static<typeof Setting>;

/** A setting with what the catalogue says about it. */
export const DescribedSetting = Type.Object(
  {
    key: Type.String(),
    value: Type.String({ description: 'The value in force; empty for a secret.' }),
    type: Type.String(),
    default: Type.String(),
    description: Type.String(),
    options: Type.Optional(Type.Array(Type.String(), { description: 'The values that a choice allows.' })),
    is_secret: Type.Boolean({ description: 'Can be set but never read.' }),
    is_set: Type.Boolean({ description: 'Has a stored value, so the default does not apply.' }),
  },
  { title: 'DescribedSetting' },
);
export type DescribedSetting = Static<typeof DescribedSetting>;

export const NewSetting = Type.Object(
  {
    key: Type.String({ minLength: 1, maxLength: 128 }),
    value: Type.String({ maxLength: 8_192 }),
  },
  ignoring('NewSetting', ASSIGNED),
);
export type NewSetting = Static<typeof NewSetting>;

export const MailTestRequest = Type.Object(
  {
    to: Type.Optional(Type.String({ maxLength: 254, description: 'Default: the address of the caller.' })),
  },
  { title: 'MailTestRequest' },
);
export type MailTestRequest = Static<typeof MailTestRequest>;

export const MailTest = Type.Object(
  {
    sent: Type.Boolean(),
    error: Type.String({ description: 'Empty when the mail server took the message.' }),
  },
  { title: 'MailTest' },
);
export type MailTest = Static<typeof MailTest>;

/** What a setting holds, its default, and what it does; a key that is not here is refused. Only administrators change settings. */
export interface SettingDefinition {
  type:
    | 'boolean'
    | 'url'
    | 'text'
    | 'integer'
    | 'email'
    | 'choice'
    | 'cron'
    | 'place'
    | 'fingerprints'
    | 'private_key'
    | 'name_servers';
  default: string;
  description: string;
  /** Bounds of an integer, both included. */
  minimum?: number;
  maximum?: number;
  /** Least characters of a text that is not empty. */
  minLength?: number;
  /** The values of a choice. */
  options?: readonly string[];
  /** Encrypted in the store and never shown again once it was set. */
  isSecret?: boolean;
  /** Decides where rights are handed out, or what a sign-in takes: changed in a session, never with an API token. */
  takesSession?: boolean;
}

export const SETTINGS = {
  'app.public_url': {
    type: 'url',
    takesSession: true,
    default: '',
    description: 'Public base URL of this service, used in invitation links. Empty: not configured.',
  },
  'feature.guard.enabled': { type: 'boolean', default: 'false', description: 'Master switch of the security suite.' },
  'security.acl.enabled': { type: 'boolean', default: 'false', description: 'Enforce access lists.' },
  'security.waf.enabled': { type: 'boolean', default: 'false', description: 'Run the web application firewall.' },
  'security.rate_limit.enabled': { type: 'boolean', default: 'false', description: 'Enforce the request rate limit.' },
  'security.crowdsec.enabled': {
    type: 'boolean',
    default: 'false',
    description: 'Run CrowdSec and enforce its decisions.',
  },
  'security.block_log.entries': {
    type: 'integer',
    minimum: 0,
    maximum: 1_000_000,
    default: '10000',
    description: 'How many refused requests are kept, so that their references can be explained. 0: none.',
  },
  'auth.require_totp': {
    type: 'boolean',
    takesSession: true,
    default: 'false',
    description: 'Demand two-factor sign-in of every user; who has not set it up can do nothing else first.',
  },
  'audit.retention_days': {
    type: 'integer',
    minimum: 0,
    maximum: 36_500,
    default: '365',
    description: 'Audit entries older than this many days are removed. 0: never.',
  },
  'history.retention_days': {
    type: 'integer',
    minimum: 0,
    maximum: 36_500,
    default: '365',
    description: 'Changes older than this many days can no longer be shown or taken back. 0: none for its age.',
  },
  'history.max_megabytes': {
    type: 'integer',
    minimum: 1,
    maximum: 100_000,
    default: '256',
    description: 'What the history may take in the store; the oldest changes go first.',
  },
  'backup.schedule': {
    type: 'cron',
    default: '',
    description:
      'When backups are made by themselves: minute, hour, day of month, month, day of week, as in 0 3 * * *, in the local time of the server. Empty: never.',
  },
  'backup.passphrase': {
    type: 'text',
    takesSession: true,
    isSecret: true,
    minLength: SHORTEST_PASSPHRASE,
    default: '',
    description:
      'Encrypts scheduled and automatic backups, which then hold the key of this deployment, and may be copied. Empty: they are not encrypted.',
  },
  'backup.keep': {
    type: 'integer',
    minimum: 1,
    maximum: 1_000,
    default: '14',
    description: 'How many scheduled backups are kept, and how many automatic ones. The newest valid one always is.',
  },
  'backup.copy_url': {
    type: 'place',
    takesSession: true,
    default: '',
    description:
      'Where backups are copied to: https://endpoint/bucket/prefix of an S3-compatible service, or sftp://user@host/directory. Empty: nowhere.',
  },
  'backup.copy_unencrypted': {
    type: 'boolean',
    takesSession: true,
    default: 'false',
    description:
      'Copy backups without a passphrase as well. Whoever can read the copies then reads hosts, accounts and hashes of passwords.',
  },
  'backup.copy_region': {
    type: 'text',
    takesSession: true,
    minLength: 1,
    default: 'us-east-1',
    description: 'Region of the S3-compatible service; those that have none take any.',
  },
  'backup.copy_access_key': {
    type: 'text',
    takesSession: true,
    default: '',
    description: 'Id of the access key at the S3-compatible service.',
  },
  'backup.copy_secret_key': {
    type: 'text',
    takesSession: true,
    isSecret: true,
    default: '',
    description: 'Secret access key at the S3-compatible service.',
  },
  'backup.copy_host_key': {
    type: 'fingerprints',
    takesSession: true,
    default: '',
    description:
      'Fingerprint of the key of the SFTP host, SHA256:…, as ssh-keygen -lf shows it; several with spaces between. A host that shows another one is told nothing. Empty: none is, and the test of copies tells the one that is shown.',
  },
  'backup.copy_private_key': {
    type: 'private_key',
    takesSession: true,
    isSecret: true,
    default: '',
    description:
      'Private key that signs in at the SFTP host, as ssh-keygen -t ed25519 -N "" writes it. Empty: backup.copy_password is used.',
  },
  'backup.copy_password': {
    type: 'text',
    takesSession: true,
    isSecret: true,
    default: '',
    description: 'Password at the SFTP host, where it takes no key.',
  },
  'acme.account': {
    type: 'text',
    default: '',
    description:
      'Name of the account that certificates are ordered with when none is given. Empty: the only account there is.',
  },
  'acme.dns_provider': {
    type: 'text',
    default: '',
    description:
      'Name of the DNS provider that proves the wildcards of hosts with auto_certificate. Empty: those get none by themselves.',
  },
  'acme.dns_resolvers': {
    type: 'name_servers',
    default: '',
    description:
      'Where DNS is asked when certificates are ordered: addresses of name servers, with a port where it is not 53, such as 192.0.2.1 [2001:db8::1]:5353. Empty: those of the system.',
  },
  'acme.http_port': {
    type: 'integer',
    minimum: 1,
    maximum: 65_535,
    default: '80',
    description:
      'The port at which authorities ask for http-01: 80, but for a private authority that is set up otherwise. The look before an order asks there, too.',
  },
  'smtp.host': {
    type: 'text',
    takesSession: true,
    default: '',
    description: 'Mail server for invitations. Empty: no mail is sent, and links are shown instead.',
  },
  'smtp.port': {
    type: 'integer',
    takesSession: true,
    minimum: 1,
    maximum: 65_535,
    default: '587',
    description: 'Port of the mail server.',
  },
  'smtp.security': {
    type: 'choice',
    takesSession: true,
    options: ['starttls', 'tls', 'none'],
    default: 'starttls',
    description: 'starttls: encryption is demanded after connecting; tls: from the first byte; none: never encrypted.',
  },
  'smtp.username': { type: 'text', default: '', description: 'Account at the mail server. Empty: no sign-in.' },
  'smtp.password': { type: 'text', default: '', isSecret: true, description: 'Password at the mail server.' },
  'smtp.from': { type: 'email', default: '', description: 'Sender address of mails. Empty: smtp.username is used.' },
} as const satisfies Record<string, SettingDefinition>;
export type SettingKey = keyof typeof SETTINGS;

/** Tells whether there is a setting of that name. */
export const isSettingKey = (key: string): key is SettingKey => Object.hasOwn(SETTINGS, key);
