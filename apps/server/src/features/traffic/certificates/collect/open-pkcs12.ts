import type { Actor } from '@sallyport/store/actor';
import { looksLikePkcs12 } from '../pkcs12/looks.ts';
import type { ReadPkcs12Files } from '../pkcs12/reader.ts';
import type { CollectedFile, RefusedFile } from './read-files.ts';

/** By what is in it, or by its name: one that is damaged is to be told of. */
const isPkcs12 = ({ file, text }: CollectedFile): boolean =>
  looksLikePkcs12(Buffer.from(text.slice(0, 16), 'latin1')) ||
  (/\.(?:pfx|p12)$/i.test(file) && !text.includes('-----BEGIN'));

/** Puts what is in PKCS #12 files in their place, PEM, and tells which of them can't be read, and why. */
export const openPkcs12 = async (
  given: readonly CollectedFile[],
  passwords: readonly string[],
  actor: Actor,
  readPkcs12: ReadPkcs12Files,
): Promise<{ opened: CollectedFile[]; refused: RefusedFile[] }> => {
  const files = given.filter(isPkcs12);
  if (files.length === 0) return { opened: [...given], refused: [] };
  const outcomes = await readPkcs12(
    files.map(({ text }) => Buffer.from(text, 'latin1')),
    // Some may have none.
    [...passwords, ''],
    actor,
  );
  const refused: RefusedFile[] = [];
  const texts = new Map<CollectedFile, string>();
  for (const [index, one] of files.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) throw new Error('a file was read without an outcome');
    if ('problem' in outcome) {
      texts.set(one, '');
      refused.push({ file: one.file, message: `it ${outcome.problem}`, isLocked: outcome.isLocked });
    } else texts.set(one, [...outcome.keys, ...outcome.certificates].join('\n'));
  }
  return { opened: given.map((one) => ({ file: one.file, text: texts.get(one) ?? one.text })), refused };
};
