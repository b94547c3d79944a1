/** Where reading an outline has come to: what may stand next. */
type Place =
  | 'ended'
  | 'named'
  | 'expected'
  | 'called'
  | 'arguments'
  | 'behind a word'
  | 'begun'
  | 'query'
  | 'statement'
  | 'command'
  | 'end';

const operand = {
  1: 'ended',
  s: 'ended',
  v: 'ended',
  n: 'named',
  f: 'called',
  '(': 'expected',
  E: 'begun',
  k: 'behind a word',
} as const;
const ended = {
  o: 'expected',
  '&': 'expected',
  ',': 'expected',
  B: 'expected',
  k: 'behind a word',
  U: 'query',
  ';': 'statement',
  ')': 'ended',
  c: 'end',
} as const;

/** From each place by the class of the next token (see KIND) to the next place. Two operands in a row, as in prose, lead nowhere. */
const next: Record<Place, Readonly<Record<string, Place>>> = {
  ended,
  named: { ...ended, '(': 'expected' },
  expected: { ...operand, ')': 'ended' },
  called: { '(': 'arguments' },
  // count(*), cast(x as int)
  arguments: { ...operand, ')': 'ended', o: 'ended', t: 'ended' },
  'behind a word': { ...operand, U: 'query', o: 'expected', c: 'end', ';': 'statement', ')': 'ended' },
  begun: { ...operand, o: 'behind a word', c: 'end', ';': 'statement', ')': 'ended' },
  query: { E: 'begun', '(': 'query', k: 'query', o: 'query' },
  statement: { E: 'begun', T: 'command', f: 'called', k: 'command', c: 'end' },
  command: { ...operand, ...ended, n: 'command', t: 'command', T: 'command', '(': 'expected' },
  end: {},
};

/** Whether an outline can be SQL from where the value stands on: behind its first operand, or where a query or call begins. */
export const isSqlFromStart = (outline: string): boolean => {
  let place: Place | undefined = 'behind a word';
  for (const kind of outline) {
    place = next[place][kind];
    if (place === undefined) return false;
  }
  return true;
};
