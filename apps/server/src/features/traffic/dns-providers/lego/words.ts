import type { ProgramEnd } from '../run-program.ts';
import { shownWords } from '../words.ts';

/** What begins each line of its log. */
const TIME = /^\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d /;

const linesOf = (output: string): string[] => output.split('\n').map((line) => line.replace(TIME, '').trim());

/** What lego puts before everything: the name, twice, and what it was about. */
const withoutPrefixes = (line: string): string =>
  line.replace(/^(?:\[[^\]]*\] )+/, '').replace(/^acme: error presenting token: /, '');

/** Why lego did not set a record, in its own words as far as it found any. */
export const reasonOf = ({ output, code, signal, isTimeout }: ProgramEnd, secrets: readonly string[]): string => {
  if (isTimeout) return 'it was not done in time, and was ended';
  if (signal !== null) return `it was ended by ${signal}`;
  const lines = linesOf(output).filter((line) => line !== '' && !line.startsWith('[INFO]'));
  const from = lines.findIndex((line) => /had a problem|^error:|could not obtain/i.test(line));
  const said = (from < 0 ? lines.slice(-3) : lines.slice(from)).filter(
    (line) => !/had a problem:$|could not obtain certificates:$/i.test(line),
  );
  const words = shownWords(said.map(withoutPrefixes).join(' '), secrets);
  return words === '' ? `it ended with code ${code}` : words;
};

/** What lego says of records that it could not take away; undefined when it could. */
export const leftBehind = ({ output }: ProgramEnd, secrets: readonly string[]): string | undefined => {
  const warning = linesOf(output).find((line) => /cleaning up failed/i.test(line));
  return warning && shownWords(warning.replace('[WARN] ', ''), secrets);
};
