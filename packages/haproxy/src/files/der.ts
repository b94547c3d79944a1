/** The few ASN.1 DER encodings (X.690) that a certificate needs. */

const length = (bytes: number): Buffer => {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const octets = bytes < 0x100 ? [0x81, bytes] : [0x82, bytes >> 8, bytes & 0xff];
  return Buffer.from(octets);
};

const element = (tag: number, ...contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
};

export const sequence = (...members: readonly Buffer[]): Buffer => element(0x30, ...members);
export const set = (...members: readonly Buffer[]): Buffer => element(0x31, ...members);
export const utf8String = (text: string): Buffer => element(0x0c, Buffer.from(text));
export const octetString = (content: Buffer): Buffer => element(0x04, content);
export const bitString = (content: Buffer): Buffer => element(0x03, Buffer.from([0]), content);
export const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));

/** Context-specific tag; `isConstructed` for explicit tagging of a structure. */
export const tagged = (tag: number, isConstructed: boolean, content: Buffer): Buffer =>
  element((isConstructed ? 0xa0 : 0x80) | tag, content);

/** A non-negative integer, big-endian. */
export const integer = (bytes: Buffer): Buffer =>
  element(0x02, (bytes[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);

/** GeneralizedTime, in UTC with whole seconds. */
export const generalizedTime = (date: Date): Buffer =>
  element(0x18, Buffer.from(`${date.toISOString().slice(0, 19).replace(/[-T:]/g, '')}Z`));

/** An object identifier in dotted form. */
export const objectIdentifier = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let high = arc >>> 7; high > 0; high >>>= 7) groups.unshift(0x80 | (high & 0x7f));
    octets.push(...groups);
  }
  return element(0x06, Buffer.from(octets));
};
