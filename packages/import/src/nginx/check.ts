import { wrongWith } from './directives.ts';
import { NginxError } from './error.ts';
import type { Directive } from './parse.ts';

/** Blocks whose lines are no directives. */
const VALUES = new Set(['map', 'geo', 'types', 'split_clients', 'charset_map', 'match']);

/**
 * Looks for what nginx would refuse wherever it is read: what is at a place where it is not allowed, lacks its block or has too
 * many arguments. Throws a `NginxError` for the first.
 */
const checkIn = (directives: readonly Directive[], context: string): void => {
  for (const directive of directives) {
    const wrong = wrongWith(directive, context);
    const { name, args, block } = directive;
    if (wrong) throw new NginxError(wrong, name, [name, ...args].map(({ text }) => text).join(' '));
    if (!block || VALUES.has(name.text) || name.text.endsWith('_by_lua_block')) continue;
    if (name.text !== 'stream' && name.text !== 'mail') checkIn(block, name.text);
  }
};

/** Whether a file has its own `http` block, or is what is within one. */
export const checkNginx = (directives: readonly Directive[]): void => {
  const ofMain = (name: string) => /^(?:http|events|stream|mail)$/.test(name);
  for (const directive of directives) checkIn([directive], ofMain(directive.name.text) ? 'main' : 'http');
  const [, second] = directives.filter(({ name }) => name.text === 'http');
  if (second) throw new NginxError('http is there twice', second.name, 'http');
};
