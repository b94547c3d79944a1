import { type AsnType, fromBER, Integer, ObjectIdentifier, OctetString, Sequence } from 'asn1js';
import { Pkcs12Problem } from './problem.ts';

export type { AsnType };

/** What the largest file of hundreds of keys comes near to. Texts inside of octets are opened by who knows that there are some. */
const LIMITS = {
  ...{ maxDepth: 32, maxNodes: 50_000, maxContentLength: 2 * 1024 * 1024 },
  ...{ parseEmbedded: false, copyInput: false },
};
/** Object identifiers that mean anything here have a dozen. */
const MAX_OID_BYTES = 64;

export const damaged = (): Pkcs12Problem =>
  new Pkcs12Problem('is damaged: what is in it has not the form of a PKCS #12');

/** What the library makes of bytes: of some wrong ones it says so, at others (a UniversalString of three octets) it throws what its parts throw. */
const valueIn = (bytes: Uint8Array): AsnType | undefined => {
  try {
    const { offset, result } = fromBER(bytes, LIMITS);
    return offset === -1 ? undefined : result;
  } catch {
    return undefined;
  }
};

/** Reads one value, of definite or indefinite length; what follows it is left. Throws a `Pkcs12Problem`, as all of these do. */
export const parseAsn1 = (bytes: Uint8Array): AsnType => {
  const value = valueIn(bytes);
  if (value === undefined) throw damaged();
  return value;
};

/** What stands in a constructed value. */
export const partsOf = (value: AsnType | undefined): AsnType[] => {
  const parts: unknown =
    value?.idBlock.isConstructed && 'value' in value.valueBlock ? value.valueBlock.value : undefined;
  if (!Array.isArray(parts)) throw damaged();
  return parts as AsnType[];
};

/** The same of a SEQUENCE. */
export const sequenceOf = (value: AsnType | undefined): AsnType[] => {
  if (!(value instanceof Sequence)) throw damaged();
  return partsOf(value);
};

/** The one value below an explicit tag. */
export const insideOf = (value: AsnType | undefined): AsnType => {
  const [inside] = partsOf(value);
  if (inside === undefined) throw damaged();
  return inside;
};

export const oidOf = (value: AsnType | undefined): string => {
  if (!(value instanceof ObjectIdentifier) || value.valueBeforeDecodeView.length > MAX_OID_BYTES) throw damaged();
  return value.getValue();
};

/** A count. One of more than six bytes is told as the largest of six: nobody computes with either. */
export const countOf = (value: AsnType | undefined): number => {
  if (!(value instanceof Integer)) throw damaged();
  const bytes = Buffer.from(value.valueBlock.valueHexView);
  if (bytes.length === 0 || (bytes[0] ?? 0) > 0x7f) throw damaged();
  return bytes.length > 6 ? 2 ** 48 - 1 : bytes.readUIntBE(0, bytes.length);
};

/** Octets in one piece or in several, with a tag of their own or with one that stands for it. */
export const octetsOf = (value: AsnType | undefined): Buffer => {
  if (value === undefined) throw damaged();
  if (!value.idBlock.isConstructed && 'valueHexView' in value.valueBlock) {
    return Buffer.from(value.valueBlock.valueHexView as Uint8Array);
  }
  return Buffer.concat(
    partsOf(value).map((piece) => {
      if (!(piece instanceof OctetString)) throw damaged();
      return octetsOf(piece);
    }),
  );
};

/** The whole of a value as it was written. */
export const writtenOf = (value: AsnType): Buffer => Buffer.from(value.valueBeforeDecodeView);

export const isInteger = (value: AsnType | undefined): boolean => value instanceof Integer;
