/** RFC 2268, section 2: a permutation of all bytes, made of digits of pi. */
const PI_TABLE = Buffer.from(
  [
    'd978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2',
    '179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82',
    '54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626',
    '6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7',
    '08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ec',
    'c2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731',
    '2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a9',
    '0d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad',
  ].join(''),
  'hex',
);
const pi = (byte: number): number => PI_TABLE[byte & 0xff] ?? 0;

/** The 64 words of a key, all of whose bits count. */
const expandKey = (key: Buffer): Uint16Array => {
  const bytes = new Uint8Array(128);
  bytes.set(key);
  const at = (index: number): number => bytes[index] ?? 0;
  for (let index = key.length; index < 128; index += 1) bytes[index] = pi(at(index - 1) + at(index - key.length));
  bytes[128 - key.length] = pi(at(128 - key.length));
  for (let index = 127 - key.length; index >= 0; index -= 1) {
    bytes[index] = pi(at(index + 1) ^ at(index + key.length));
  }
  return Uint16Array.from({ length: 64 }, (_, index) => at(2 * index) | (at(2 * index + 1) << 8));
};

const ROTATIONS = [1, 2, 3, 5];
/** Rounds of mixing, between which the words are mashed: from the last one to the first, to decrypt. */
const MIXES = [5, 6, 5];

const decryptBlock = (words: Uint16Array, key: Uint16Array): void => {
  const word = (index: number): number => words[index & 3] ?? 0;
  let next = 63;
  for (const [turn, rounds] of MIXES.entries()) {
    if (turn > 0) for (let i = 3; i >= 0; i -= 1) words[i] = word(i) - (key[word(i - 1) & 63] ?? 0);
    for (let round = 0; round < rounds; round += 1) {
      for (let i = 3; i >= 0; i -= 1) {
        const rotation = ROTATIONS[i] ?? 0;
        const turned = (word(i) >>> rotation) | (word(i) << (16 - rotation));
        const mixed = (word(i - 1) & word(i - 2)) + (~word(i - 1) & word(i - 3));
        words[i] = turned - (key[next] ?? 0) - mixed;
        next -= 1;
      }
    }
  }
};

const BLOCK = 8;

/**
 * Decrypts RC2 (RFC 2268) in CBC with padding, of keys whose effective bits are all of theirs: Node's OpenSSL does so only when the whole
 * process is told to. Throws for what has no padding, or another first byte, as after a wrong key: of that all the rest is not decrypted, which
 * takes a third of a second for a megabyte.
 */
export const decryptRc2 = (key: Buffer, iv: Buffer, data: Buffer, first: number): Buffer => {
  if (data.length === 0 || data.length % BLOCK > 0) throw new Error('it is no whole number of blocks');
  const words = expandKey(key);
  const plain = Buffer.alloc(data.length);
  const block = new Uint16Array(4);
  for (let start = 0; start < data.length; start += BLOCK) {
    for (let i = 0; i < 4; i += 1) block[i] = data.readUInt16LE(start + 2 * i);
    decryptBlock(block, words);
    const before = start === 0 ? iv : data.subarray(start - BLOCK, start);
    for (let i = 0; i < 4; i += 1) {
      plain.writeUInt16LE((block[i] ?? 0) ^ before.readUInt16LE(2 * i), start + 2 * i);
    }
    if (plain[0] !== first) throw new Error('it begins with something else');
  }
  const padding = plain.at(-1) ?? 0;
  const isPadded = padding >= 1 && padding <= BLOCK && plain.subarray(-padding).every((byte) => byte === padding);
  if (!isPadded) throw new Error('it has no padding');
  return plain.subarray(0, -padding);
};
