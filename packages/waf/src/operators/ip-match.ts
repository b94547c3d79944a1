import { createIpSet } from './ip-set.ts';
import { type OperatorEnv, OperatorError, type OperatorInstance } from './operator.ts';

const blocksOf = (text: string): string[] => text.split(/[\s,]+/).filter((block) => block !== '');

/** @ipMatch: the value is an address of one of the comma-separated addresses and CIDR blocks. */
export const compileIpMatch = (argument: string): OperatorInstance => {
  const blocks = blocksOf(argument);
  if (blocks.length === 0) throw new OperatorError('ipMatch needs at least one address or CIDR block');
  const set = createIpSet(blocks);
  return { match: (buf, start, end) => set.has(buf, start, end) };
};

/** @ipMatchFromFile: ipMatch with the addresses of a file, one or more to a line, `#` starting a comment. */
export const compileIpMatchFromFile = (argument: string, env: OperatorEnv): OperatorInstance => {
  const text = Buffer.from(env.readFile(argument.trim())).toString('latin1');
  const set = createIpSet(text.split('\n').flatMap((line) => blocksOf(line.replace(/#.*/, ''))));
  return { match: (buf, start, end) => set.has(buf, start, end) };
};
