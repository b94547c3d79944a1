import type { Place } from '../text/error.ts';
import type { Token } from '../text/token.ts';

/** One line of a block, and the block that it opens. */
export interface Directive {
  name: Token;
  args: readonly Token[];
  block?: Directive[];
}

/** A site and what it is made of; the block without an address is that of the global options. */
export interface ServerBlock {
  place: Place;
  keys: readonly Token[];
  directives: Directive[];
  kind: 'options' | 'site' | 'named-route';
}

export interface Notice extends Place {
  message: string;
}
