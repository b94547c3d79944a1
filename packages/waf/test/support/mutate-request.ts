/** Numbers from a seed: xorshift32, the same run every time. */
export const createRandom = (seed: number) => {
  let state = seed | 0 || 1;
  return (below: number): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
};

const splinters = [
  ...[
    '%00',
    '%u0027',
    '%',
    '%zz',
    '&',
    '=',
    '&amp;',
    '&#x3c',
    '\\x3c',
    '\\u003c',
    '\\',
    "'",
    '"',
    '<',
    '>',
    '/*',
    '*/',
    '--',
    '#',
  ],
  ...[
    '/../',
    '..\\',
    '\r\n',
    '\n',
    '\r',
    '\0',
    '\x7f',
    '\xff',
    '\xc0\xaf',
    '{',
    '}',
    '[',
    ']',
    '(',
    ')',
    ';',
    '|',
    '`',
    '$(',
    '{{',
  ],
  ...[
    'select',
    'union',
    ' or 1=1',
    'script',
    'onerror=',
    'javascript:',
    'eval(',
    '/etc/passwd',
    'cmd.exe',
    'http://',
    'a'.repeat(70),
  ],
];

/** Makes requests that are nearly well formed: bytes flipped, cut, doubled, and splinters of attacks put in. */
export const createMutator = (seed: number) => {
  const random = createRandom(seed);
  return (raw: Buffer): Buffer => {
    let bytes = Buffer.from(raw);
    for (let times = 1 + random(4); times > 0; times--) {
      const at = random(bytes.length + 1);
      const kind = random(5);
      if (kind === 0 && at < bytes.length) bytes[at] = random(256);
      else if (kind === 1) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(8))]);
      else if (kind === 2) {
        const end = at + random(40);
        bytes = Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
      } else {
        const splinter = Buffer.from(splinters[random(splinters.length)]!, 'latin1');
        bytes = Buffer.concat([bytes.subarray(0, at), splinter, bytes.subarray(at)]);
      }
    }
    return bytes;
  };
};
