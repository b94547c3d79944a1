import type { Place } from './diagnostic.ts';

/** Whose reading of quotes and default pattern flags is followed. */
export type Dialect = 'modsecurity2' | 'modsecurity3';

/** A stretch of rule text with the place of each of its chars. */
export type Text = { readonly value: string; placeOf(index: number): Place };

/** `collection:selector`; the selector is a literal name, a regular expression between slashes, or (XML) an XPath. */
export type TargetNode = {
  readonly place: Place;
  /** `exclude` is `!VAR`, `count` is `&VAR`. */
  readonly mode: 'use' | 'exclude' | 'count';
  /** Upper case, as written otherwise. */
  readonly variable: string;
  readonly selector: Selector | null;
  /** As written, for messages. */
  readonly source: string;
};

export type Selector =
  | { readonly kind: 'literal'; readonly name: string }
  | { readonly kind: 'regex'; readonly source: string }
  | { readonly kind: 'xpath'; readonly path: string };

export type OperatorNode = {
  readonly place: Place;
  readonly isNegated: boolean;
  /** Lower case, without `@`. */
  readonly name: string;
  readonly argument: string;
  readonly argumentPlace: Place;
};

export type ActionNode = {
  readonly place: Place;
  /** Lower case. */
  readonly name: string;
  readonly value: string | null;
  readonly valuePlace: Place;
};

export type Directive =
  | {
      readonly kind: 'rule';
      readonly place: Place;
      readonly targets: readonly TargetNode[];
      readonly operator: OperatorNode;
      readonly actions: readonly ActionNode[];
    }
  | { readonly kind: 'action'; readonly place: Place; readonly actions: readonly ActionNode[] }
  | { readonly kind: 'default-action'; readonly place: Place; readonly actions: readonly ActionNode[] }
  | { readonly kind: 'marker'; readonly place: Place; readonly label: string }
  | { readonly kind: 'setting'; readonly place: Place; readonly name: string; readonly args: readonly Text[] };
