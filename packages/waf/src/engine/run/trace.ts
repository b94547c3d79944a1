import type { Link, Rule } from '../../model/program.ts';
import type { ByteRange } from './transform.ts';

/** Hears what the evaluator does. The engine holds null when nobody listens, so it costs one comparison. */
export type Trace = {
  /** The rule's turn has come: it is evaluated next. */
  visited(rule: Rule): void;
  /** A value, as it stands after the link's transformations, was put to the link's operator. The range is only valid during the call. */
  checked(rule: Rule, link: Link, name: string, value: ByteRange, isMatch: boolean): void;
  /** All links of the rule matched. */
  fired(rule: Rule): void;
  /** The rule was passed over: taken out by ctl, or jumped over by skip or skipAfter of `by`. */
  skipped(rule: Rule, reason: 'removed' | 'jumped', by: Rule | null): void;
};
