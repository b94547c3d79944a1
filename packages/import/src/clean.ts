import type { ImportedHost, Place, Reading } from './reading.ts';

/** What steers a terminal, turns the order of letters or can not be seen, but for what joins letters and emoji. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u{ad}\u{200c}\u{200d}])\p{Cf}/gu;

/** A text of a source as it may be shown: on one line, and nothing in it that is not seen. */
export const clean = (text: string): string =>
  text.replace(UNSEEN, (character) => (/\s/.test(character) ? ' ' : '\ufffd'));

/** What may be a part of a key. */
const SECRET = /[A-Za-z0-9+/=]{16,}/g;

/**
 * A reading whose texts may be shown in a terminal. What is referred to by name is made clean where names are made. Of a file that
 * `hides` keys, nothing is quoted that may be one.
 */
export const cleanReading = (reading: Reading, hides: (file: string) => boolean): Reading => {
  const said = (text: string, file: string): string => clean(hides(file) ? text.replace(SECRET, '…') : text);
  const cleanPlace = <T extends Place & { message: string }>(one: T): T => ({
    ...one,
    file: clean(one.file),
    message: said(one.message, one.file),
  });
  const cleanHost = (host: ImportedHost): ImportedHost => ({
    ...host,
    file: clean(host.file),
    ...(host.name !== undefined && { name: clean(host.name) }),
    warnings: host.warnings.map(cleanPlace),
  });
  return {
    ...reading,
    hosts: reading.hosts.map(cleanHost),
    ...(reading.accessLists && {
      accessLists: reading.accessLists.map((list) => ({
        ...list,
        ...(list.description !== undefined && { description: clean(list.description) }),
      })),
    }),
    warnings: reading.warnings.map(cleanPlace),
    errors: reading.errors.map((error) => ({
      ...cleanPlace(error),
      ...(error.text !== undefined && { text: said(error.text, error.file) }),
    })),
    staticFiles: reading.staticFiles.map(cleanPlace),
  };
};
