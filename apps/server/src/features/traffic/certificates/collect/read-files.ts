import { createPrivateKey, createPublicKey, hash, type KeyObject, X509Certificate } from 'node:crypto';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { jsonPairs } from './json-pairs.ts';
import { pemBlocks } from './pem-blocks.ts';

export interface CollectedFile {
  /** As the caller calls it, with its folders. */
  file: string;
  text: string;
}

export interface FoundCertificate {
  certificate: X509Certificate;
  /** Digest of its public key: what it has in common with its private one. */
  key: string;
  /** Those it is in, in the order they came. */
  files: string[];
}

export interface FoundKey {
  pem: string;
  files: string[];
}

export interface Found {
  /** By fingerprint. */
  certificates: Map<string, FoundCertificate>;
  /** By digest of the public key. */
  keys: Map<string, FoundKey>;
  /** Why a file, or a part of it, can't be used. */
  refused: RefusedFile[];
}

export interface RefusedFile {
  file: string;
  message: string;
  /** Its password is missing or wrong. */
  isLocked?: boolean;
}

const digestOf = (publicKey: KeyObject): string =>
  hash('sha256', publicKey.export({ type: 'spki', format: 'der' }), 'base64url');

const note = (files: string[], file: string): void => {
  if (files.at(-1) !== file) files.push(file);
};

const ENCRYPTED = 'the key is encrypted: take the passphrase off first, with "openssl pkey -in KEY -out OTHER"';

/**
 * Reads certificates and private keys out of files, whatever they are called: PEM, and JSON that holds PEM. Others have their turn between
 * any two of them: a file of a megabyte may hold thousands, and some keys take milliseconds each.
 */
export const readFiles = async (given: readonly CollectedFile[]): Promise<Found> => {
  const found: Found = { certificates: new Map(), keys: new Map(), refused: [] };
  const toldOf = new Map<string, ReadonlySet<string>>();

  const addCertificate = (file: string, text: string): void => {
    const certificate = new X509Certificate(text);
    const known = found.certificates.get(certificate.fingerprint256);
    if (known) note(known.files, file);
    else {
      const key = digestOf(certificate.publicKey);
      found.certificates.set(certificate.fingerprint256, { certificate, key, files: [file] });
    }
  };

  const addKey = (file: string, text: string): void => {
    const digest = digestOf(createPublicKey(createPrivateKey(text)));
    const known = found.keys.get(digest);
    if (known) note(known.files, file);
    else found.keys.set(digest, { pem: text, files: [file] });
  };

  /** Once for a reason: one file has room for ten thousands of blocks. */
  const refuse = (file: string, message: string): void => {
    const isTold = toldOf.get(file)?.has(message);
    if (isTold) return;
    toldOf.set(file, new Set([...(toldOf.get(file) ?? []), message]));
    found.refused.push({ file, message });
  };

  for (const { file, text } of given) {
    await yieldToOthers();
    for (const { label, text: block } of [text, ...jsonPairs(text)].flatMap(pemBlocks)) {
      await yieldToOthers();
      const isKey = label.endsWith('PRIVATE KEY');
      if (isKey && (label.startsWith('ENCRYPTED') || block.includes('Proc-Type: 4,ENCRYPTED'))) refuse(file, ENCRYPTED);
      else if (isKey || label === 'CERTIFICATE' || label === 'TRUSTED CERTIFICATE') {
        try {
          if (isKey) addKey(file, block);
          else addCertificate(file, block);
        } catch {
          refuse(file, isKey ? 'a private key in it can not be read' : 'a certificate in it can not be read');
        }
      }
    }
  }
  return found;
};
