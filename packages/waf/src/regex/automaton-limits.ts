import type { PcreNode } from './ast.ts';

/** Automata copy a repeated set this often at most; a larger count is let through and confirmed by backtracking. */
const maxCountedCopies = 300;
/** Automata copy a repeated group until it has this many instructions; past that too the count is let through. */
const maxCopiedInstructions = 6_000;

/** How many instructions a node takes in an automaton, counting copies; an upper bound. */
const copiesCost = (node: PcreNode): number => {
  switch (node.type) {
    case 'concat':
    case 'alternate':
      return node.items.reduce((sum, item) => sum + copiesCost(item) + 1, 0);
    case 'repeat': {
      const times = node.max === Number.POSITIVE_INFINITY ? Math.max(1, node.min) : node.max;
      return times * (copiesCost(node.body) + 3);
    }
    case 'capture':
      return copiesCost(node.body) + 2;
    case 'atomic':
      return copiesCost(node.body);
    default:
      return 1;
  }
};

/** The repeat as an automaton can hold it: its own counts, or wider ones when copying would be too much. */
export const boundedCounts = (node: PcreNode & { type: 'repeat' }): { min: number; max: number } => {
  const { min, max, body } = node;
  const times = max === Number.POSITIVE_INFINITY ? min : max;
  if (times <= 1) return { min, max };
  const limit = Math.max(1, Math.min(maxCountedCopies, Math.floor(maxCopiedInstructions / (copiesCost(body) + 3))));
  return times <= limit ? { min, max } : { min: Math.min(min, limit), max: Number.POSITIVE_INFINITY };
};

/** Whether automata decide the pattern exactly. */
export const isRegularNode = (node: PcreNode): boolean => {
  switch (node.type) {
    case 'concat':
    case 'alternate':
      return node.items.every(isRegularNode);
    case 'repeat': {
      const { min, max } = boundedCounts(node);
      return node.mode !== 'possessive' && min === node.min && max === node.max && isRegularNode(node.body);
    }
    case 'capture':
      return isRegularNode(node.body);
    case 'atomic':
    case 'look':
    case 'backreference':
      return false;
    default:
      return true;
  }
};
