import type { PcreNode } from './ast.ts';

/** The pattern read backwards, for automata that scan from the end: order and edges turn round, captures go. */
export const reverseNode = (node: PcreNode): PcreNode => {
  switch (node.type) {
    case 'concat':
      return { type: 'concat', items: node.items.map(reverseNode).reverse() };
    case 'alternate':
      return { type: 'alternate', items: node.items.map(reverseNode) };
    case 'repeat':
      return { ...node, body: reverseNode(node.body) };
    case 'capture':
    case 'atomic':
      return reverseNode(node.body);
    case 'edge':
      return { type: 'edge', pairs: node.pairs.map(({ before, after }) => ({ before: after, after: before })) };
    case 'look':
      return { type: 'empty' };
    default:
      return node;
  }
};
