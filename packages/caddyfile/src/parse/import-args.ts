import type { Token } from '../text/token.ts';

const VARIADIC = /^\{args\[(-?\d*):(-?\d*)\]\}$/;
const SINGLE = /\{args(?:\[(\d+)\]|\.(\d+))\}/g;

/** Which of `count` arguments `{args[from:to]}` stands for; undefined when the word is no such thing. */
const rangeOf = (text: string, count: number): [from: number, to: number] | undefined => {
  const [, first, last] = VARIADIC.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [first === '' ? 0 : Number(first), last === '' ? count : Number(last)];
  return from < 0 || from > to || to > count ? undefined : [from, to];
};

/**
 * The words that an imported one becomes: itself with its `{args[0]}` filled in, or all that `{args[:]}` stands for. An
 * argument that was not given stays as it is.
 */
export const fillIn = (token: Token, args: readonly Token[], chain: number): Token[] => {
  if (!token.text.includes('{args')) return [{ ...token, chain }];
  const range = rangeOf(token.text, args.length);
  if (range) return args.slice(...range).map(({ text }) => ({ ...token, text, chain }));
  const text = token.text.replaceAll(SINGLE, (whole, index?: string, old?: string) => {
    return args[Number(index ?? old)]?.text ?? whole;
  });
  return [{ ...token, text, chain }];
};
