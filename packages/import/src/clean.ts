import type { ImportedHost, Place, Reading } from './reading.ts';

/** What steers a terminal, turns the order of letters or can not be seen, but for what joins letters and emoji. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u{ad}\u{200c}\u{200d}])\p{Cf}/gu;

/** A text of a source as it may be shown: on one line, and nothing in it that is not seen. */
export const clean = (text: string): string =>
  text.replace(UNSEEN, (character) => (/\s/.test(character) ? ' ' : '\ufffd'));

const cleanPlace = <T extends Place & { message: string }>(one: T): T => ({
  ...one,
  file: clean(one.file),
  message: clean(one.message),
});

const cleanHost = (host: ImportedHost): ImportedHost => ({
  ...host,
  file: clean(host.file),
  ...(host.name !== undefined && { name: clean(host.name) }),
  warnings: host.warnings.map(cleanPlace),
});

/** A reading whose texts may be shown in a terminal. What is referred to by name is made clean where names are made. */
export const cleanReading = (reading: Reading): Reading => ({
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
    ...(error.text !== undefined && { text: clean(error.text) }),
  })),
  staticFiles: reading.staticFiles.map(cleanPlace),
});
