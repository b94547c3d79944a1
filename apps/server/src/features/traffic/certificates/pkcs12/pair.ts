import { refuse } from '@sallyport/store/errors';
import { pairUp } from '../collect/pair-up.ts';
import { readFiles } from '../collect/read-files.ts';
import { type CertificatePair, parseCertificatePair } from '../pem.ts';
import type { Pkcs12Outcome } from './job.ts';

const FIELD = 'pkcs12_file';

const passwordRefusal = (password: string) =>
  refuse.invalid(password === '' ? 'pkcs12_password is required: the file needs one' : 'pkcs12_password is wrong');

/**
 * The one certificate of an uploaded PKCS #12 with its key, and those that certify it, without the root: who trusts that has it. Throws a 400
 * that names `pkcs12_file`, or `pkcs12_password`, and the reason.
 */
export const pairOfPkcs12 = async (outcome: Pkcs12Outcome | undefined, password: string): Promise<CertificatePair> => {
  if (outcome === undefined) throw new Error('a file was read without an outcome');
  if ('problem' in outcome) {
    throw outcome.isLocked ? passwordRefusal(password) : refuse.invalid(`${FIELD} ${outcome.problem}`);
  }
  const text = [...outcome.keys, ...outcome.certificates].join('\n');
  const found = await readFiles([{ file: FIELD, text }]);
  if (found.keys.size === 0) throw refuse.invalid(`${FIELD} holds no private key`);
  if (found.certificates.size === 0) throw refuse.invalid(`${FIELD} holds a private key, but no certificate`);
  if (found.keys.size > 1) {
    throw refuse.invalid(`${FIELD} holds ${found.keys.size} private keys: an import of files takes all of them`);
  }
  const [latest] = (await pairUp(found)).sort(
    (a, b) => Number(b.leaf.certificate.validToDate) - Number(a.leaf.certificate.validToDate),
  );
  if (!latest) throw refuse.invalid(`${FIELD} holds no certificate of a server that belongs to its private key`);
  return parseCertificatePair(latest.chainPem, latest.key.pem, { certificate: FIELD, key: FIELD });
};
