import { parseAddress } from './ip-address.ts';
import { type OperatorEnv, OperatorError, type OperatorInstance } from './operator.ts';

/**
 * @rbl: a DNS block list lists the address in the value. No query is made here, for the answer would come too late:
 * `env.blockList` answers from what was resolved before, and not knowing yet is no match.
 */
export const compileRbl = (argument: string, env: OperatorEnv): OperatorInstance => {
  const zone = argument.trim();
  if (!/^(?=.{1,253}$)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})+\.?$/.test(zone)) {
    throw new OperatorError(`"${zone}" is not the domain name of a DNS block list`);
  }
  const { blockList } = env;
  if (!blockList) return { warning: 'rbl needs a resolver: without one it never matches', match: () => false };
  const words = new Uint32Array(4);
  return {
    match(buf, start, end, context) {
      if (parseAddress(buf, start, end, words) === 0) return false;
      if (blockList(zone, Buffer.from(buf.subarray(start, end)).toString('latin1')) !== true) return false;
      if (context.wantsCapture) context.capture(0, buf, start, end);
      return true;
    },
  };
};
