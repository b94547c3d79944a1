import type { EdgeSide } from './ast.ts';
import { type ByteSet, bytesOf, hasByte } from './byte-set.ts';
import type { Program } from './program.ts';

/** The bytes of a pattern in classes that no set or edge of it tells apart. */
export type BytePartition = {
  /** Class of each byte. */
  classOf: Uint8Array;
  /** Number of byte classes, at most 256; the class with this number is the end of the text. */
  count: number;
  /** `setMembers[set * (count + 1) + class]` is 1 when the class belongs to the set; the end belongs to none. */
  setMembers: Uint8Array;
  /** `prevKind[class]`: what edges can tell about the byte before a position; 0 when the program has no edges. */
  prevKind: Uint8Array;
  /** `edgeHolds[(edge * kinds + kind) * (count + 1) + class]`: whether the edge holds between the two. */
  edgeHolds: Uint8Array;
  kinds: number;
};

const sideHas = (side: EdgeSide, representative: number): boolean =>
  representative < 0 ? side.boundary : hasByte(side.bytes, representative);

/** Splits the byte values by every set and edge of the program. */
export const partitionBytes = (program: Program): BytePartition => {
  const classOf = new Uint8Array(256);
  let count = 1;
  const split = (set: ByteSet): void => {
    // A class is cut in two when some, but not all, of its bytes are in the set.
    const members = bytesOf(set);
    if (members.length === 0 || members.length === 256) return;
    const sizes = new Uint16Array(count);
    for (let byte = 0; byte < 256; byte++) sizes[classOf[byte]!]!++;
    const inside = new Uint16Array(count);
    for (const byte of members) inside[classOf[byte]!]!++;
    const renamed = new Int16Array(count).fill(-1);
    for (const byte of members) {
      const current = classOf[byte]!;
      if (inside[current] === sizes[current]) continue;
      if (renamed[current]! < 0) renamed[current] = count++;
      classOf[byte] = renamed[current]!;
    }
  };
  for (const set of program.sets) split(set);
  for (const pairs of program.edges) {
    for (const { before, after } of pairs) {
      split(before.bytes);
      split(after.bytes);
    }
  }

  const width = count + 1;
  const representative = new Int16Array(width).fill(-1);
  for (let byte = 255; byte >= 0; byte--) representative[classOf[byte]!] = byte;

  const setMembers = new Uint8Array(program.sets.length * width);
  program.sets.forEach((set, index) => {
    for (let kind = 0; kind < count; kind++) {
      if (hasByte(set, representative[kind]!)) setMembers[index * width + kind] = 1;
    }
  });

  const prevKind = new Uint8Array(width);
  const kindBySignature = new Map<string, number>();
  const kindRepresentative: number[] = [];
  for (let kind = 0; kind < width; kind++) {
    let signature = '';
    for (const pairs of program.edges) {
      for (const { before } of pairs) signature += sideHas(before, representative[kind]!) ? '1' : '0';
    }
    let number = kindBySignature.get(signature);
    if (number === undefined) {
      number = kindRepresentative.push(representative[kind]!) - 1;
      kindBySignature.set(signature, number);
    }
    prevKind[kind] = number;
  }
  const kinds = kindRepresentative.length;
  const edgeHolds = new Uint8Array(program.edges.length * kinds * width);
  program.edges.forEach((pairs, edge) => {
    for (let kind = 0; kind < kinds; kind++) {
      for (let next = 0; next < width; next++) {
        const holds = pairs.some(
          ({ before, after }) => sideHas(before, kindRepresentative[kind]!) && sideHas(after, representative[next]!),
        );
        if (holds) edgeHolds[(edge * kinds + kind) * width + next] = 1;
      }
    }
  });
  return { classOf, count, setMembers, prevKind, edgeHolds, kinds };
};
