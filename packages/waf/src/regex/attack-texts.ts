import type { PcreNode } from './ast.ts';
import { type ByteSet, bytesOf, hasByte } from './byte-set.ts';

/** A text made to keep a backtracking matcher busy: a beginning, something a loop of the pattern takes, an end that fits nothing. */
export type AttackText = { prefix: string; pump: string; suffix: string };

const maxAttacks = 24;
const maxSampleLength = 64;
/** A bounded loop that may run this often is as good as an endless one. */
const manyTimes = 8;

const preferred = [0x61, 0x30, 0x20, 0x2e, 0x2f, 0x3d, 0x27, 0x22, 0x28, 0x3c];

const memberOf = (set: ByteSet): string => {
  const byte = preferred.find((candidate) => hasByte(set, candidate)) ?? bytesOf(set)[0];
  return byte === undefined ? '' : String.fromCharCode(byte);
};

/** A short text that the node matches, lookarounds and edges aside. */
const sample = (node: PcreNode): string => {
  switch (node.type) {
    case 'set':
      return memberOf(node.set);
    case 'concat': {
      let text = '';
      for (const item of node.items) if (text.length < maxSampleLength) text += sample(item);
      return text;
    }
    case 'alternate':
      return node.items.map(sample).reduce((one, other) => (other.length < one.length ? other : one));
    case 'repeat':
      return sample(node.body).repeat(Math.min(node.min, maxSampleLength)).slice(0, maxSampleLength);
    case 'capture':
    case 'atomic':
      return sample(node.body);
    default:
      return '';
  }
};

/** Texts that one turn of a loop takes: a sample of each of its alternatives. */
const turns = (node: PcreNode): string[] => {
  switch (node.type) {
    case 'alternate':
      return node.items.slice(0, 4).flatMap(turns);
    case 'capture':
    case 'atomic':
      return turns(node.body);
    case 'repeat':
      return turns(node.body).map((text) => text.repeat(Math.max(1, Math.min(node.min, manyTimes))));
    default:
      return [sample(node)];
  }
};

const loopSets = (node: PcreNode): ByteSet[] => {
  switch (node.type) {
    case 'concat':
    case 'alternate':
      return node.items.flatMap(loopSets);
    case 'repeat':
      return node.body.type === 'set' && node.max >= manyTimes ? [node.body.set] : loopSets(node.body);
    case 'capture':
    case 'atomic':
    case 'look':
      return loopSets(node.body);
    default:
      return [];
  }
};

/** Texts to try a pattern on: each of its loops is pumped, with bytes that other loops take too where there are any. */
export const attackTexts = (root: PcreNode): AttackText[] => {
  const sets = loopSets(root);
  const attacks = new Map<string, AttackText>();

  const add = (prefix: string, pump: string): void => {
    if (pump === '' || attacks.size >= maxAttacks) return;
    attacks.set(`${prefix} ${pump}`, { prefix, pump, suffix: '\0' });
  };

  const visit = (node: PcreNode, prefix: string): void => {
    if (attacks.size >= maxAttacks) return;
    switch (node.type) {
      case 'concat': {
        let before = prefix;
        for (const item of node.items) {
          visit(item, before);
          before = (before + sample(item)).slice(0, maxSampleLength);
        }
        return;
      }
      case 'alternate':
        for (const item of node.items) visit(item, prefix);
        return;
      case 'repeat':
        if (node.max >= manyTimes) {
          if (node.body.type === 'set') {
            const own = node.body.set;
            for (const other of sets) {
              add(prefix, memberOf(own.map((word, index) => word & other[index]!)));
            }
          }
          for (const turn of turns(node.body)) add(prefix, turn);
        }
        visit(node.body, prefix);
        return;
      case 'capture':
      case 'atomic':
      case 'look':
        visit(node.body, prefix);
    }
  };

  visit(root, '');
  return [...attacks.values()];
};

/** The attack with its pump repeated, as bytes. */
export const pumped = ({ prefix, pump, suffix }: AttackText, times: number): Uint8Array =>
  Buffer.from(prefix + pump.repeat(times) + suffix, 'latin1');
