import type { PcreNode } from './ast.ts';
import { textStart } from './edges.ts';

/** The fewest bytes a match of the node consumes; back references and lookarounds count as none. */
export const minLength = (node: PcreNode): number => {
  switch (node.type) {
    case 'set':
      return 1;
    case 'concat':
      return node.items.reduce((sum, item) => sum + minLength(item), 0);
    case 'alternate':
      return Math.min(...node.items.map(minLength));
    case 'repeat':
      return node.min === 0 ? 0 : node.min * minLength(node.body);
    case 'capture':
    case 'atomic':
      return minLength(node.body);
    default:
      return 0;
  }
};

/** The exact number of bytes a match of the node consumes, or null when it varies. */
export const fixedLength = (node: PcreNode): number | null => {
  switch (node.type) {
    case 'set':
      return 1;
    case 'empty':
    case 'edge':
    case 'look':
      return 0;
    case 'concat': {
      let sum = 0;
      for (const item of node.items) {
        const length = fixedLength(item);
        if (length === null) return null;
        sum += length;
      }
      return sum;
    }
    case 'alternate': {
      const [first, ...others] = node.items.map(fixedLength);
      return first !== undefined && others.every((length) => length === first) ? first : null;
    }
    case 'repeat': {
      const length = fixedLength(node.body);
      return length === null || node.min !== node.max ? null : length * node.min;
    }
    case 'capture':
    case 'atomic':
      return fixedLength(node.body);
    case 'backreference':
      return null;
  }
};

/** Whether every match begins where the text does. */
export const isAnchored = (node: PcreNode): boolean => {
  switch (node.type) {
    case 'edge':
      return node === textStart;
    case 'concat':
      return isAnchored(node.items[0]!);
    case 'alternate':
      return node.items.every(isAnchored);
    case 'capture':
    case 'atomic':
      return isAnchored(node.body);
    default:
      return false;
  }
};
