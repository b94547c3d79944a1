import { type EncodedActions, encodeActions, setVar } from '@sallyport/spop';
import type { Judgement } from './judge.ts';

const pass = encodeActions([setVar('txn', 'verdict', 'pass')]);
const drop = encodeActions([setVar('txn', 'verdict', 'drop'), setVar('txn', 'layer', 'waf')]);
const denials = new Map<string, EncodedActions>();

const deny = (layer: string, status: number): EncodedActions => {
  const key = `${layer} ${status}`;
  let encoded = denials.get(key);
  if (!encoded) {
    encoded = encodeActions([
      setVar('txn', 'verdict', 'deny'),
      setVar('txn', 'layer', layer),
      setVar('txn', 'status', status),
    ]);
    // Statuses are three digits, so there can't be many.
    denials.set(key, encoded);
  }
  return encoded;
};

/** The answer of a guard that has nothing to judge by: no verdict would be opened by `waf_fail_mode`, this one never is. */
export const unprepared = (): EncodedActions => deny('guard', 503);

/** A judgement as the variables that HAProxy's rules read. */
export const toActions = (judgement: Judgement): EncodedActions => {
  switch (judgement.action) {
    case 'pass':
      return pass;
    case 'deny':
      return deny(judgement.layer, judgement.status);
    case 'drop':
      return drop;
    case 'redirect':
      return encodeActions([
        setVar('txn', 'verdict', 'redirect'),
        setVar('txn', 'layer', judgement.layer),
        setVar('txn', 'location', judgement.location),
      ]);
    default:
      return judgement satisfies never;
  }
};
