import { base64Decode, base64DecodeExt, base64Encode } from './base64.ts';
import { lowercase, parityEven7bit, parityOdd7bit, parityZero7bit, replaceNulls, uppercase } from './byte-map.ts';
import { cmdLine } from './cmd-line.ts';
import { removeComments, removeCommentsChar, replaceComments } from './comments.ts';
import { compressWhitespace } from './compress-whitespace.ts';
import { cssDecode } from './css-decode.ts';
import { md5, sha1 } from './digest.ts';
import { escapeSeqDecode } from './escape-seq-decode.ts';
import { hexDecode, hexEncode, sqlHexDecode } from './hex.ts';
import { htmlEntityDecode } from './html-entity-decode.ts';
import { jsDecode } from './js-decode.ts';
import { length } from './length.ts';
import { normalisePath, normalisePathWin } from './normalise-path.ts';
import { removeNulls, removeWhitespace } from './remove-bytes.ts';
import { sameLength, type Transformation } from './transformation.ts';
import { trim, trimLeft, trimRight } from './trim.ts';
import { urlDecode, urlDecodeUni } from './url-decode.ts';
import { urlEncode } from './url-encode.ts';
import { utf8toUnicode } from './utf8-to-unicode.ts';

/** t:none clears the chain so far when rules are compiled; as a step of a chain it changes nothing. */
const none: Transformation = { name: 'none', triggers: new Uint8Array(256), bound: sameLength, apply: () => -1 };

const ALL: readonly Transformation[] = [
  none,
  base64Decode,
  base64DecodeExt,
  base64Encode,
  cmdLine,
  compressWhitespace,
  cssDecode,
  escapeSeqDecode,
  hexDecode,
  hexEncode,
  htmlEntityDecode,
  jsDecode,
  length,
  lowercase,
  md5,
  normalisePath,
  normalisePathWin,
  parityEven7bit,
  parityOdd7bit,
  parityZero7bit,
  removeComments,
  removeCommentsChar,
  removeNulls,
  removeWhitespace,
  replaceComments,
  replaceNulls,
  sha1,
  sqlHexDecode,
  trim,
  trimLeft,
  trimRight,
  uppercase,
  urlDecode,
  urlDecodeUni,
  urlEncode,
  utf8toUnicode,
];

const BY_NAME = new Map(ALL.map((item) => [item.name.toLowerCase(), item]));
BY_NAME.set('normalizepath', normalisePath);
BY_NAME.set('normalizepathwin', normalisePathWin);

/** The transformation of this name in any case (`normalizePath` for `normalisePath` too), undefined if there is none. */
export const transformation = (name: string): Transformation | undefined => BY_NAME.get(name.toLowerCase());

/** Every transformation's name, for diagnostics that list what would have been accepted. */
export const transformationNames: readonly string[] = ALL.map((item) => item.name);
