import { IS_SPACE } from '../bytes/ascii.ts';

/** What the Content-Type header says about the boundary; `error` is null when it can be used. */
export interface BoundaryFacts {
  readonly boundary: string;
  readonly error: string | null;
  readonly isQuoted: boolean;
  readonly hasWhitespace: boolean;
  readonly isSemicolonMissing: boolean;
}

const longestHeader = 1024;
const mediaType = 'multipart/form-data';
/** RFC 2046, section 5.1.1; a space may not be last. */
const boundaryCharacters = /^[0-9A-Za-z'()+_,\-./:=? ]*[0-9A-Za-z'()+_,\-./:=?]$/;

const isBlank = (text: string): boolean => {
  for (let i = 0; i < text.length; i++) if (IS_SPACE[text.charCodeAt(i) & 0xff] === 0) return false;
  return true;
};

const countParameters = (text: string): number => {
  const pieces = text.toLowerCase().split('boundary');
  const lastEquals = text.lastIndexOf('=');
  let position = pieces[0]!.length;
  let count = 0;
  for (const piece of pieces.slice(1)) {
    position += 'boundary'.length;
    if (lastEquals >= position) count++;
    position += piece.length;
  }
  return count;
};

/** Reads the boundary of a multipart/form-data Content-Type (Latin-1), as strictly as ModSecurity does. */
export const readBoundary = (header: string): BoundaryFacts => {
  const facts = { boundary: '', error: null, isQuoted: false, hasWhitespace: false, isSemicolonMissing: false };
  const fail = (reason: string): BoundaryFacts => ({ ...facts, error: reason });
  if (header === '') return fail('Content-Type header not available');
  if (header.length > longestHeader) return fail('Content-Type header too long');
  if (header.slice(0, mediaType.length).toLowerCase() !== mediaType) return fail('not multipart/form-data');
  if (countParameters(header) > 1) return fail('more than one boundary parameter');

  const name = header.indexOf('boundary');
  if (name < 0) return fail(countParameters(header) > 0 ? 'boundary parameter not in lower case' : 'no boundary');
  const between = header.slice(mediaType.length, name);
  const semicolon = between.indexOf(';');
  if (!isBlank(semicolon < 0 ? between : between.slice(0, semicolon) + between.slice(semicolon + 1))) {
    return fail('something else before the boundary parameter');
  }
  facts.isSemicolonMissing = semicolon < 0;

  const equals = header.indexOf('=', name);
  if (equals < 0) return fail('boundary without a value');
  const gap = header.slice(name + 'boundary'.length, equals);
  if (!isBlank(gap)) return fail('malformed boundary parameter');
  let value = header.slice(equals + 1);
  facts.hasWhitespace = gap !== '' || (value !== '' && isBlank(value[0]!));

  if (value.length >= 2 && value.startsWith('"') && value.endsWith('"')) {
    value = value.slice(1, -1);
    facts.isQuoted = true;
  } else if (value.startsWith('"') || (value.length >= 2 && value.endsWith('"'))) {
    return fail('boundary quoted on one side only');
  }
  if (countParameters(value) > 0) return fail('boundary contains a boundary parameter');
  // Some clients put charset= behind the boundary; ModSecurity tolerates that.
  if (!boundaryCharacters.test(value) && value.includes(';')) value = value.slice(0, value.indexOf(';'));
  if (value === '') return fail('empty boundary');
  if (!boundaryCharacters.test(value)) return fail('boundary with characters that are not allowed');
  return { ...facts, boundary: value };
};
