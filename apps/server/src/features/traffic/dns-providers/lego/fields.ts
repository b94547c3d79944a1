import type { DnsProviderField } from '@sallyport/contract';
import type { DnsProviderAccess } from '../access.ts';

/** A provider that lego knows, as far as it can be used from here. */
export interface LegoType {
  /** As lego calls it. */
  code: string;
  name: string;
  fields: DnsProviderField[];
  /** Fields whose value lego reads from a file that it is named: private keys, which we write there. */
  fileKeys: string[];
  /** The field for the time between two looks at DNS; undefined where there is none. */
  pollingKey: string | undefined;
  /** It sets one record after the other, since a second one at a name would push the first one out. */
  isSequential: boolean;
}

/**
 * What lego could do that a caller of the API must not have it do, or that can't work from here: run a command, wait for somebody at a
 * terminal, keep a file of its own from run to run, read a file of the host.
 */
const NOT_OFFERED = ['exec', 'manual', 'acme-dns', 'hyperone'];

/** The content of such a file is a key and nothing else, so it can be given instead of a path. */
const KEY_FILE = /PRIV(?:ATE)?_?KEY_(?:FILE|PATH)$/;
/** A path would let a caller have a file of the host read; what such a file holds may name commands to run. */
const PATH = /(?:_FILE|_PATH|_DIR|_LOCATION|EDGERC|EDGERC_SECTION|_STORAGE|_SDK_LOAD_CONFIG|_PROFILE)$/;
/** Names that mean something to programs themselves, whoever lists them. */
const NOT_OURS = /^(?:PATH|HOME|TMPDIR|LD_|GO[A-Z]+$|LEGO_|SSL_|.*_PROXY$)/;

const SMELLS = /KEY|TOKEN|SECRET|PASS|PWD|SIGNATURE|CREDENTIAL|AUTH$|CERT|SESSION|SEED|PIN$/;
/** Credentials that are plainly none; all that is in doubt is secret. */
const IS_PLAIN =
  /(?:USER|USER_?NAME|EMAIL|LOGIN|NAME|_ID|_OCID|REGION|ENDPOINT|URL|HOST|NAMESERVER|SERVER|ALGORITHM|ZONE|PROJECT|GROUP|ENVIRONMENT|MODE|VIEW|SECTION|BASE|ADDRESS|NUMBER|CODE|ROLE|ARN|FINGERPRINT)$/;
const IS_PLAIN_ANYWAY = /(?:TSIG_ALGORITHM|PUBKEY_FINGERPRINT)$/;

const isSecret = (key: string, isCredential: boolean): boolean => {
  if (IS_PLAIN_ANYWAY.test(key)) return false;
  if (!isCredential) return /SECRET|TOKEN|PASSWORD|API_KEY|CREDENTIAL|_OTP$/.test(key);
  return SMELLS.test(key) || !IS_PLAIN.test(key);
};

/** `[text](address)` → `text`. */
const plainText = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim();

const LINE = /^\s+- "([A-Z][A-Z0-9_]*)":\s*(.*)$/;

const CONTENT = ' (the key itself, in PEM)';

/** The codes that `lego dnshelp` lists. */
export const parseCodes = (help: string): string[] => {
  const [, list = ''] = /All DNS codes:\s*\n([\s\S]*?)\n\s*\n/.exec(help) ?? [];
  return list.split(/[,\s]+/).filter((code) => /^[a-z0-9][a-z0-9-]*$/.test(code) && !NOT_OFFERED.includes(code));
};

/** Reads what `lego dnshelp -c CODE` says; undefined when it leaves nothing that could be filled in. */
export const parseType = (code: string, help: string): LegoType | undefined => {
  const name = /^Configuration for (.+)\.$/m.exec(help)?.[1] ?? code;
  let isCredential = true;
  let isSequential = false;
  const fields: DnsProviderField[] = [];
  const fileKeys: string[] = [];
  for (const line of help.split('\n')) {
    if (/^Credentials:/.test(line)) isCredential = true;
    if (/^Additional Configuration:/.test(line)) isCredential = false;
    const [, key, text = ''] = LINE.exec(line) ?? [];
    if (key === undefined || NOT_OURS.test(key) || fields.some((field) => field.key === key)) continue;
    if (key.endsWith('_SEQUENCE_INTERVAL')) {
      isSequential = true;
      continue;
    }
    const label = plainText(text);
    if (KEY_FILE.test(key)) {
      fileKeys.push(key);
      fields.push({ key, label: `${label}${CONTENT}`, secret: true, required: false });
    } else if (!PATH.test(key)) {
      fields.push({ key, label, secret: isSecret(key, isCredential), required: false });
    }
  }
  if (fields.length === 0) return undefined;
  const pollingKey = fields.find(({ key }) => key.endsWith('_POLLING_INTERVAL'))?.key;
  return { code, name, fields, fileKeys, pollingKey, isSequential };
};

/** What of our own environment a program needs to get out to where it has to; with Go it is the same for all programs. */
const PASSED_ON = [
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

export interface RunFiles {
  /** Nobody else can enter it. */
  directory: string;
  /** Path of the certificate that it trusts the relay by. */
  authority: string;
  /** Paths of files by the fields that name them. */
  files: Readonly<Record<string, string>>;
}

/** All of the environment of one run: nothing of ours but the way out, and of the provider only fields that lego has told of. */
export const environmentOf = (
  type: LegoType,
  { fields, secrets }: DnsProviderAccess,
  { directory, authority, files }: RunFiles,
): Record<string, string> => {
  const given: Record<string, string> = { ...fields, ...secrets, ...files };
  const known = type.fields.filter(({ key }) => given[key] !== undefined).map(({ key }) => [key, given[key]]);
  return {
    ...Object.fromEntries(
      PASSED_ON.map((name) => [name, process.env[name]]).filter(([, value]) => value !== undefined),
    ),
    // It only looks once, and we wait ourselves.
    ...(type.pollingKey === undefined ? {} : { [type.pollingKey]: '1' }),
    ...Object.fromEntries(known),
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: directory,
    TMPDIR: directory,
    LEGO_CA_CERTIFICATES: authority,
    LEGO_EXPERIMENTAL_CNAME_SUPPORT: 'true',
  };
};
