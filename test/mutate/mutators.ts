import { childOf, childrenOf, type Node, type Place } from './syntax.ts';

/** A range of the text, and what stands there instead. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/** All changes of one kind that can be made at a place. */
type Mutator = (place: Place, text: string) => readonly Change[];

const instead = ({ start, end }: Node, replacement: string): Change => ({ start, end, replacement });
const textOf = ({ start, end }: Node, text: string): string => text.slice(start, end);
const parentOf = ({ around }: Place): Node | undefined => around.at(-1);

const operatorOf = (node: Node): string => String(node.operator);

/** The range of a binary operator: between its operands, comments excepted, there is nothing else. */
const swapOperator = (node: Node, text: string, operators: readonly string[]): Change[] => {
  const [left, right] = [childOf(node, 'left'), childOf(node, 'right')];
  if (!left || !right) return [];
  const start = text.indexOf(operatorOf(node), left.end);
  return operators.map((replacement) => ({ start, end: start + operatorOf(node).length, replacement }));
};

const CONDITIONAL = new Set(['IfStatement', 'ConditionalExpression']);
const LOOPS = new Set(['WhileStatement', 'DoWhileStatement', 'ForStatement']);

/** A branch is always or never taken, a loop never entered. `a && b` that is always true is caught by one that lacks `a`. */
const conditions: Mutator = ({ node }) => {
  const test = childOf(node, 'test');
  if (!test) return [];
  if (LOOPS.has(node.type)) return test.type === 'Literal' ? [] : [instead(test, 'false')];
  if (!CONDITIONAL.has(node.type)) return [];
  if (test.type === 'LogicalExpression') return [instead(test, String(operatorOf(test) !== '&&'))];
  return [instead(test, 'true'), instead(test, 'false')];
};

/** Either half alone; stronger than the other operator, which differs where one of these does. */
const logic: Mutator = ({ node }, text) => {
  if (node.type !== 'LogicalExpression') return [];
  const [left, right] = [childOf(node, 'left'), childOf(node, 'right')];
  if (!left || !right) return [];
  return [left, right].map((half) => instead(node, `(${textOf(half, text)})`));
};

const RELATIONS: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
};

const relations: Mutator = (place, text) => {
  const { node } = place;
  if (node.type !== 'BinaryExpression') return [];
  const parent = parentOf(place);
  const isWholeTest = parent !== undefined && CONDITIONAL.has(parent.type) && parent.test === node;
  const swaps = RELATIONS[operatorOf(node)] ?? [];
  // Where it is the whole condition, "always" and "never" are tried already: its opposite is noticed by either.
  return swapOperator(node, text, isWholeTest ? swaps.slice(0, -1) : swaps);
};

const ARITHMETIC: Readonly<Record<string, string>> = {
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&': '|',
  '|': '&',
  '^': '&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
  '|=': '&=',
  '&=': '|=',
};

const isText = (node: Node | undefined): boolean =>
  node?.type === 'TemplateLiteral' || (node?.type === 'Literal' && typeof node.value === 'string');

const arithmetic: Mutator = ({ node }, text) => {
  if (node.type === 'UpdateExpression') {
    const argument = childOf(node, 'argument')!;
    const other = operatorOf(node) === '++' ? '--' : '++';
    const operand = textOf(argument, text);
    return [instead(node, node.prefix ? `${other}${operand}` : `${operand}${other}`)];
  }
  if (node.type !== 'BinaryExpression' && node.type !== 'AssignmentExpression') return [];
  const other = ARITHMETIC[operatorOf(node)];
  if (other === undefined || isText(childOf(node, 'left')) || isText(childOf(node, 'right'))) return [];
  return swapOperator(node, text, [other]);
};

const negations: Mutator = ({ node }, text) => {
  const argument = childOf(node, 'argument');
  if (node.type !== 'UnaryExpression' || operatorOf(node) !== '!' || !argument) return [];
  return [instead(node, `(${textOf(argument, text)})`)];
};

const isLogging = (node: Node, text: string): boolean => {
  const callee = node.type === 'CallExpression' ? childOf(node, 'callee') : undefined;
  return callee !== undefined && /(^|\.)(log|console)\b/.test(textOf(callee, text));
};

/** Words for people (errors, the log) may change without any harm that a test should see. */
const isForPeople = ({ around }: Place, text: string): boolean =>
  around.some(
    (node) =>
      node.type === 'ThrowStatement' ||
      (node.type === 'NewExpression' && /Error\b/.test(textOf(node, text))) ||
      isLogging(node, text),
  );

/** A literal that is a name in the syntax: of a property, a module, a directive. */
const isName = (place: Place): boolean => {
  const parent = parentOf(place);
  if (!parent) return false;
  if (parent.type === 'Property' || parent.type === 'PropertyDefinition') return parent.key === place.node;
  return parent.type === 'ImportExpression' || typeof parent.directive === 'string' || parent.type.startsWith('Export');
};

const literals: Mutator = (place, text) => {
  const { node } = place;
  if (isName(place) || isForPeople(place, text)) return [];
  if (node.type === 'Literal' && typeof node.value === 'boolean') return [instead(node, String(!node.value))];
  if (node.type === 'Literal' && typeof node.value === 'string' && node.value !== '') return [instead(node, "''")];
  if (
    node.type === 'TemplateLiteral' &&
    textOf(node, text) !== '``' &&
    parentOf(place)?.type !== 'TaggedTemplateExpression'
  ) {
    return [instead(node, '``')];
  }
  if (node.type === 'ArrayExpression' && childrenOf(node, 'elements').length > 0) return [instead(node, '[]')];
  return [];
};

/** `^` and `$` are what makes a check of a text one of the whole text. */
const anchors: Mutator = ({ node }, text) => {
  if (node.type !== 'Literal' || typeof node.regex !== 'object' || node.regex === null) return [];
  const { pattern } = node.regex as { pattern: string };
  const flags = textOf(node, text).slice(pattern.length + 2);
  const shorter = [];
  if (pattern.startsWith('^')) shorter.push(pattern.slice(1));
  if (pattern.endsWith('$') && !pattern.endsWith('\\$')) shorter.push(pattern.slice(0, -1));
  return shorter.filter((part) => part !== '').map((part) => instead(node, `/${part}/${flags}`));
};

const isEmptyValue = (node: Node): boolean =>
  (node.type === 'Identifier' && node.name === 'undefined') || (node.type === 'Literal' && node.value === null);

const results: Mutator = ({ node }) => {
  const argument = node.type === 'ReturnStatement' ? childOf(node, 'argument') : undefined;
  if (argument) return isEmptyValue(argument) ? [] : [instead(node, 'return;')];
  const body = node.type === 'ArrowFunctionExpression' ? childOf(node, 'body') : undefined;
  if (!body || body.type === 'BlockStatement' || isEmptyValue(body)) return [];
  // Without its parentheses: those of an object stay around it.
  return [instead(body, 'undefined')];
};

const REMOVED = new Set(['ExpressionStatement', 'ThrowStatement', 'ContinueStatement', 'BreakStatement']);

const statements: Mutator = ({ node }, text) => {
  if (node.type === 'ReturnStatement') return childOf(node, 'argument') ? [] : [instead(node, ';')];
  if (!REMOVED.has(node.type) || typeof node.directive === 'string') return [];
  const expression = childOf(node, 'expression');
  if (expression && isLogging(expression, text)) return [];
  return [instead(node, ';')];
};

/** A field that is left out of an object: of a query, of what is signed, of what is written down. */
const fields: Mutator = (place, text) => {
  const { node, around } = place;
  const parent = around.at(-1);
  if (parent?.type !== 'ObjectExpression' || isForPeople(place, text)) return [];
  if (node.type !== 'Property' && node.type !== 'SpreadElement') return [];
  const comma = /^\s*,/.exec(text.slice(node.end))?.[0].length ?? 0;
  return [{ start: node.start, end: node.end + comma, replacement: '' }];
};

const optionalChains: Mutator = ({ node }, text) => {
  if (node.optional !== true || (node.type !== 'MemberExpression' && node.type !== 'CallExpression')) return [];
  const before = childOf(node, 'object') ?? childOf(node, 'callee');
  if (!before) return [];
  const start = text.indexOf('?.', before.end);
  const isPlainMember = node.type === 'MemberExpression' && node.computed !== true;
  return [{ start, end: start + 2, replacement: isPlainMember ? '.' : '' }];
};

const awaits: Mutator = ({ node }, text) => {
  const argument = node.type === 'AwaitExpression' ? childOf(node, 'argument') : undefined;
  return argument ? [instead(node, `(${textOf(argument, text)})`)] : [];
};

const LEFT_OUT = new Set([
  'filter',
  'slice',
  'trim',
  'toLowerCase',
  'toUpperCase',
  'toSorted',
  'replace',
  'replaceAll',
  'normalize',
]);
const OTHER_METHOD: Readonly<Record<string, string>> = {
  some: 'every',
  every: 'some',
  min: 'max',
  max: 'min',
  startsWith: 'endsWith',
};

const methods: Mutator = ({ node }, text) => {
  const callee = node.type === 'CallExpression' ? childOf(node, 'callee') : undefined;
  const [object, property] = callee ? [childOf(callee, 'object'), childOf(callee, 'property')] : [];
  if (!callee || !object || !property || callee.computed === true) return [];
  const name = String(property.name);
  if (LEFT_OUT.has(name) && callee.optional !== true) return [instead(node, textOf(object, text))];
  const other = Object.hasOwn(OTHER_METHOD, name) ? OTHER_METHOD[name] : undefined;
  return other === undefined ? [] : [instead(property, other)];
};

/** What is tried, by name. */
export const mutators: readonly (readonly [kind: string, mutate: Mutator])[] = [
  ['condition', conditions],
  ['logic', logic],
  ['relation', relations],
  ['arithmetic', arithmetic],
  ['negation', negations],
  ['literal', literals],
  ['anchor', anchors],
  ['result', results],
  ['statement', statements],
  ['field', fields],
  ['optional chain', optionalChains],
  ['await', awaits],
  ['method', methods],
];
