import { createExpander, type Expander, type Grammar } from './expand.ts';
import { type Dialect, dialects } from './sql-functions.ts';
import { sqlGrammar } from './sql-grammar.ts';

/** What a value in a statement may be that an attack is put behind. */
const values: Grammar = {
  inString: ["x'", "'", "1'", "-1'", "admin'", "x y'", "test@x.y'", "%'", "x')", "')", "1')", "'))", "x'))"],
  inDouble: ['x"', '"', '1"', '-1"', 'admin"', '%"', 'x")', '")', '1"))'],
  inNumber: ['1', '0', '-1', '7', '1337', '1.5', '1)', '-1)', '1))', '99999'],
  inName: ['id', 'name', 'price', 'u.id', 'user', 'date', 'users.name', '"id"', 'x', 'title', 'count'],
  inOrder: ['1', 'id', '1 asc', 'id desc', '2', 'price', 'name asc', '1 DESC'],
  inLimit: ['1', '10', '0', '1,1', '10 offset 1', '10 offset 0', '5,10'],
};

/**
 * Where a value stands in a statement, and what an attack there looks like, of the symbols of a dialect and those above. `{end}` is a
 * comment, an end of the statement or nothing.
 */
const places: Grammar = {
  'condition behind a text': [
    ...[
      '{inString}{and}{condition}{end}',
      '{inString}{and}{condition}{end}',
      '{inString}{and}{condition}{end}',
      '{inString}{and}({condition}){end}',
    ],
    ...[
      "{inString}{and}{operand}{compare}'{word}",
      "{inString}{and}'{word}'='{word}",
      "{inString}{and}{condition} and '{word}'='{word}",
      "{inString}{and}{condition} or '{word}' like '{word}",
    ],
    ...[
      '{inString}{compare}{operand}{end}',
      '{inString}{math}{operand}{end}',
      '{inString} is null{and}{condition}{end}',
      '{inString} in ({operand}){and}{condition}{end}',
    ],
    ...[
      '{inString} {group}{end}',
      '{inString}{ending}',
      '{inString} between {operand} and {operand}{end}',
      '{inString} like {text}{and}{condition}{end}',
    ],
  ],
  'condition behind a text in double quotes': [
    ...[
      '{inDouble}{and}{condition}{end}',
      '{inDouble}{and}{condition}{end}',
      '{inDouble}{and}{condition}{end}',
      '{inDouble}{and}({condition}){end}',
    ],
    ...[
      '{inDouble}{and}{operand}{compare}"{word}',
      '{inDouble}{and}"{word}"="{word}',
      '{inDouble}{and}{condition} and "{word}"="{word}',
      '{inDouble}{ending}',
      '{inDouble} {union} {query}{end}',
    ],
    ...['{inDouble}{compare}{operand}{end}', '{inDouble};{statement}{end}', '{inDouble}{math}{wait}{end}'],
  ],
  'condition behind a number': [
    ...[
      '{inNumber}{and}{condition}{end}',
      '{inNumber}{and}{condition}{end}',
      '{inNumber}{and}{condition}{end}',
      '{inNumber}{and}({condition}){end}',
    ],
    ...[
      '{inNumber}{compare}{operand}{and}{condition}{end}',
      '{inNumber}{math}{operand}{and}{condition}{end}',
      '{inNumber} is null{and}{condition}{end}',
    ],
    ...[
      '{inNumber} {group}{end}',
      '{inNumber} between {operand} and {operand}{and}{condition}{end}',
      '{inNumber} in ({operand}){and}{condition}{end}',
      '{inNumber} not like {operand}{end}',
    ],
  ],
  'condition behind a name': [
    '{inName}{compare}{operand}{and}{condition}{end}',
    '{inName}{and}{condition}{end}',
    '{inName}={name}{and}{condition}{end}',
    '{inName} is not null{and}{condition}{end}',
    '{inName} {union} {query}{end}',
    '{inName};{statement}{end}',
    '{inName}{math}{subquery}{end}',
    '{inName},{subquery}{end}',
    '{inName} in {subquery}{end}',
    '{inName} from {table} where {condition}{end}',
  ],
  'order by': [
    '{inOrder},{subquery}{end}',
    '{inOrder},{call}{end}',
    '{inOrder},{case}{end}',
    '{inOrder}, {wait}{end}',
    '{inOrder},{told}{end}',
    '{case}{end}',
    '{inOrder};{statement}{end}',
    '{subquery}{end}',
    '{inOrder} limit {digits}{end}',
    '{inOrder} {union} {query}{end}',
    '{inOrder},(case when ({condition}) then {column} else {column} end){end}',
    'if({condition},{operand},{operand}){end}',
    '{inOrder} limit {digits} offset {subquery}{end}',
  ],
  'number of rows': [
    '{inLimit} {union} {query}{end}',
    '{inLimit};{statement}{end}',
    "{inLimit} into outfile '/tmp/x'{end}",
    '{inLimit} procedure analyse({operand},{operand}){end}',
    '{inLimit} procedure analyse(extractvalue(1,{operand}),1){end}',
    '{inLimit} offset {subquery}{end}',
    '{inLimit},{subquery}{end}',
    '{inLimit} for update;{statement}{end}',
    '{inLimit} into @x{end}',
    '{subquery}{end}',
  ],
  'group by and having': [
    '{inNumber} {group}{end}',
    '{inString} {group}{end}',
    '{inName} {group}{end}',
    '{inDouble} {group}{end}',
    '{inNumber} {group} {union} {query}{end}',
    '{inString} {group};{statement}{end}',
  ],
  'values of an insert': [
    ...[
      "x',{operand}){end}",
      "x', {operand}), ('{word}',{operand}){end}",
      "x',{operand}),('{word}',{operand}){end}",
      "x',{operand},{operand}){end}",
      "x'),({operand}){end}",
      "x',{subquery}){end}",
      "x',{subquery},1){end}",
    ],
    ...[
      "'||{operand}||'",
      "'+{operand}+'",
      "'||{subquery}||'",
      "'+{subquery}+'",
      "x',{call})-- ",
      "x',{case}){end}",
      "',{operand},'",
      "x', {digits}), ('admin', {digits}){end}",
      "x') on duplicate key update a={operand}{end}",
      "x') returning {column}{end}",
    ],
    ...[
      "x',{wait}){end}",
      "x',{told}){end}",
      '1,{operand}){end}',
      '1,{subquery}){end}',
      '1),(2,{operand}){end}',
      '1),({subquery},{digits}){end}',
      '1);{statement}{end}',
      "x');{statement}{end}",
      'x",{operand}),("{word}",{operand}){end}',
    ],
  ],
  'assignments of an update': [
    "x',{column}={operand}{end}",
    "x',{column}='{word}' where {condition}{end}",
    "x' where {condition}{end}",
    "x', {column} = {operand} where {condition}{end}",
    '1,{column}={operand}{end}',
    '1,{column}={operand} where {condition}{end}',
    '1 where {condition}{end}',
    "x',{column}={subquery} where {condition}{end}",
    "x',{column}='{word}",
    "x',{column}={call}{end}",
    "x' where {column}={operand}{and}{condition}{end}",
  ],
  'union of queries': [
    '{inString} {union} {query}{end}',
    '{inNumber} {union} {query}{end}',
    '{inDouble} {union} {query}{end}',
    '{inString} {union} ({query}){end}',
    '{inNumber} {union}({query}){end}',
    '{inString}{and}{condition} {union} {query}{end}',
    '{inNumber}{and}{condition} {union} {query}{end}',
    '{inNumber}{union} {query}{end}',
    '{inString}{union} {query}{end}',
    '{union} {query}{end}',
    "{inString} {union} {query}{and}'{word}'='{word}",
    '{inNumber} {group} {union} {query}{end}',
    '{inString} {union} select {items}{from} {group}{end}',
  ],
  'further statement': [
    '{inString};{statement}{end}',
    '{inString}; {statement}{end}',
    '{inNumber};{statement}{end}',
    '{inNumber}; {statement}{end}',
    '{inDouble};{statement}{end}',
    '{inString} {statement}{end}',
    '{inNumber} {statement}{end}',
    '{inString};{statement};{statement}{end}',
    '{inString}{and}{condition};{statement}{end}',
    ';{statement}{end}',
    '{inName};{statement}{end}',
    '{inNumber} ;{statement}{end}',
  ],
  'subquery or expression': [
    '{subquery}',
    '{subquery}{end}',
    '{inNumber}{compare}{subquery}{end}',
    '{inNumber}{math}{subquery}{end}',
    "{inString}{math}{subquery}{math}'",
    '{inString}{and}{subquery}{compare}{operand}{end}',
    '{inNumber}{and}{subquery}{end}',
    '{inNumber}{and}{operand}{compare}{subquery}{end}',
    '{inNumber}{and}exists{subquery}{end}',
    '{inNumber} in {subquery}{end}',
    '{inString} in {subquery}{end}',
    '{inNumber}{and}{operand} in {subquery}{end}',
    '{call}',
    '{call}{end}',
    '{case}',
    '{query}{end}',
    '{inNumber}{and}not exists {subquery}{end}',
  ],
  'measured time': [
    '{inString}{and}{wait}{end}',
    '{inNumber}{and}{wait}{end}',
    '{inString};{wait}{end}',
    '{inNumber};{wait}{end}',
    '{wait}',
    '{inString} {wait}{end}',
    '{inNumber} {wait}{end}',
    "{inString}{math}{wait}{math}'",
    '{inNumber}{math}{wait}{end}',
    "{inString}{and}{wait}{and}'{word}'='{word}",
    '{inNumber},{wait}{end}',
    '{inString}; {wait}{end}',
    '{inString}{and}({wait}){end}',
    '{inNumber}{and}{wait}={operand}{end}',
    '{inString},{wait}){end}',
    '{inString};select {wait}{end}',
  ],
  'telling errors': [
    '{inString}{and}{told}{end}',
    '{inNumber}{and}{told}{end}',
    '{inNumber}{math}{told}{end}',
    "{inString}{math}{told}{math}'",
    '{inNumber},{told}{end}',
    '{told}',
    '{inString}{compare}{told}{end}',
    '{inString}{and}({told}){end}',
    '{inNumber}{and}{told}{compare}{operand}{end}',
    "{inString}{and}{told}{and}'{word}'='{word}",
    '{inNumber}{and}({told})={operand}{end}',
  ],
};

const common: Grammar = {
  ...values,
  group: [
    'group by {column} having {condition}',
    'having {condition}',
    'group by {digits}',
    'order by {digits}',
    'order by {column}',
    'order by {subquery}',
    'order by {case}',
    'order by {call}',
    'group by {column},{column}',
    'limit {digits}',
    'limit {digits},{digits}',
    'order by {digits} desc',
    'group by {call} having {condition}',
    'order by {digits},{subquery}',
  ],
  end: ['{ending}', '{ending}', '{ending}', '{ending}', ''],
};

/** What a blank may be written as; what MySQL alone takes for one is left to it. */
const blanks: readonly ((dialect: Dialect) => string)[] = [
  () => ' ',
  () => ' ',
  () => ' ',
  () => '  ',
  () => '\t',
  () => '\n',
  () => '\r\n',
  () => '/**/',
  () => '/*x*/',
  () => ' /* a b */ ',
  () => '--x\n',
  () => '-- \n',
  (dialect) => (dialect === 'mysql' ? '#\n' : '\v'),
  (dialect) => (dialect === 'mysql' ? '\xa0' : '\f'),
];

/** Words and blanks as attackers vary them: one kind of blank for all or another each time, capitals at random. The comment at its end stays. */
const disguise = (expander: Expander, dialect: Dialect, text: string): string => {
  const ending = /(?:--|#|\/\*)[^'")]{0,4}$/.exec(text)?.[0] ?? '';
  let body = text.slice(0, text.length - ending.length);
  if (expander.chance(40)) {
    const one = expander.pick(blanks);
    const isMixed = expander.chance(25);
    body = body.replaceAll(' ', () => (isMixed ? expander.pick(blanks) : one)(dialect));
  }
  const capitals = expander.pick(['as they are', 'as they are', 'as they are', 'as they are', 'all', 'some']);
  if (capitals === 'all') body = body.toUpperCase();
  if (capitals === 'some')
    body = body.replace(/[a-z]/g, (letter) => (expander.chance(50) ? letter.toUpperCase() : letter));
  return body + ending;
};

export type SqlAttack = { readonly place: string; readonly dialect: Dialect; readonly text: string };
export const sqlPlaces: readonly string[] = Object.keys(places);

/** Attacks without an end, from the grammars of five dialects, for each place of a statement in turn; the same for the same seed. */
export function* sqlAttacks(seed: number): Generator<SqlAttack, never> {
  const expander = createExpander(seed);
  const grammars = dialects.map((dialect) => [dialect, { ...sqlGrammar(dialect), ...common, ...places }] as const);
  for (;;) {
    for (const place of sqlPlaces) {
      for (const [dialect, grammar] of grammars) {
        yield { place, dialect, text: disguise(expander, dialect, expander.expand(grammar, place)) };
      }
    }
  }
}
