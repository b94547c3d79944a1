import { parseSync, visitorKeys } from 'oxc-parser';

/** A node of the syntax tree (ESTree with TypeScript's additions); positions count UTF-16 units. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** The node's child of that name, if it has one. */
export const childOf = (node: Node, key: string): Node | undefined => {
  const child = node[key];
  return isNode(child) ? child : undefined;
};

/** The node's list of that name; empty without one, holes left out. */
export const childrenOf = (node: Node, key: string): readonly Node[] => {
  const list = node[key];
  return Array.isArray(list) ? list.filter(isNode) : [];
};

/** A node and those around it, the nearest last. */
export interface Place {
  readonly node: Node;
  readonly around: readonly Node[];
}

/** What only the type checker reads, and what names rather than does. */
const isSkipped = (node: Node): boolean =>
  node.type === 'ImportDeclaration' ||
  node.type === 'ExportAllDeclaration' ||
  (node.type.startsWith('TS') &&
    !['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'].includes(node.type));

/** Every node of a TypeScript file that has an effect, parents first. Throws for text that does not parse. */
export const placesOf = (file: string, text: string): readonly Place[] => {
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
  const places: Place[] = [];
  const visit = (node: Node, around: readonly Node[]): void => {
    if (isSkipped(node)) return;
    places.push({ node, around });
    for (const key of visitorKeys[node.type] ?? []) {
      const child = node[key];
      for (const next of Array.isArray(child) ? child : [child]) if (isNode(next)) visit(next, [...around, node]);
    }
  };
  visit(program as unknown as Node, []);
  return places;
};
