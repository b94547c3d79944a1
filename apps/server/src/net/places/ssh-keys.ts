/** Fingerprints as `ssh-keygen -l` shows them. */
const FINGERPRINT = /^SHA256:[A-Za-z0-9+/]{43}$/;
const MOST_FINGERPRINTS = 8;

/**
 * Reads the fingerprints of a host's keys, separated by spaces; a host has one for each kind of key. Throws an `Error` whose
 * message continues "value …".
 */
export const parseFingerprints = (text: string): string[] => {
  const fingerprints = text.split(/[\s,]+/).filter((one) => one !== '');
  if (fingerprints.length > MOST_FINGERPRINTS || !fingerprints.every((one) => FINGERPRINT.test(one))) {
    throw new Error('must be SHA256:… as ssh-keygen -lf shows it, or several of them with spaces between');
  }
  return fingerprints;
};

const PRIVATE_KEY = /^-----BEGIN ((?:OPENSSH|RSA|EC) PRIVATE KEY)-----\n([A-Za-z0-9+/=\n]+)\n-----END \1-----$/;
const OPENSSH_MAGIC = 'openssh-key-v1\0';

/** The name of the cipher comes first: its length, then itself. */
const isOpenKey = (content: Buffer): boolean => {
  const at = OPENSSH_MAGIC.length;
  if (content.length < at + 8 || content.toString('latin1', 0, at) !== OPENSSH_MAGIC) return false;
  return content.toString('latin1', at + 4, at + 4 + content.readUInt32BE(at)) === 'none';
};

/**
 * Reads a private key that nothing but the file protects; returns it with Unix line ends. Throws an `Error` whose message
 * continues "value …" and shows nothing of it.
 */
export const parsePrivateKey = (text: string): string => {
  const key = text.replace(/\r\n?/g, '\n').trim();
  const [, form, body = ''] = PRIVATE_KEY.exec(key) ?? [];
  if (form === undefined || (form.startsWith('OPENSSH') && !isOpenKey(Buffer.from(body, 'base64')))) {
    throw new Error('must be a private key as ssh-keygen -t ed25519 -N "" writes it, without a passphrase');
  }
  return `${key}\n`;
};
