import { createExpander, type Expander } from './expand.ts';
import { type Dialect, dialects } from './sql-functions.ts';
import { sqlGrammar } from './sql-grammar.ts';
import { placeSymbols, places } from './sql-places.ts';

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
  const grammars = dialects.map(
    (dialect) => [dialect, { ...sqlGrammar(dialect), ...placeSymbols, ...places }] as const,
  );
  for (;;) {
    for (const place of sqlPlaces) {
      for (const [dialect, grammar] of grammars) {
        yield { place, dialect, text: disguise(expander, dialect, expander.expand(grammar, place)) };
      }
    }
  }
}
