import { closestName } from '../compile/closest-name.ts';
import type { CompileContext } from '../compile/context.ts';
import type { ActionReader } from '../compile/rule-parts.ts';
import { transformation, transformationNames } from '../transformations/registry.ts';
import type { Transformation } from '../transformations/transformation.ts';
import type { UnicodeMap } from '../transformations/unicode-map.ts';
import { createUrlDecodeUni } from '../transformations/url-decode.ts';
import { requireValue } from './require-value.ts';

/** urlDecodeUni reads %u through SecUnicodeMapFile; one for all rules, so that equal chains stay equal. */
const mappedDecoders = new WeakMap<UnicodeMap, Transformation>();

const transformationFor = (name: string, { settings }: CompileContext): Transformation | undefined => {
  if (settings.unicodeMap === null || name.toLowerCase() !== 'urldecodeuni') return transformation(name);
  let decoder = mappedDecoders.get(settings.unicodeMap);
  if (decoder === undefined) {
    decoder = createUrlDecodeUni(settings.unicodeMap);
    mappedDecoders.set(settings.unicodeMap, decoder);
  }
  return decoder;
};

/** Actions that say how a rule is matched and where evaluation goes on. */
export const flowActions: Readonly<Record<string, ActionReader>> = {
  chain: (_action, _rule, link) => {
    link.isChained = true;
  },
  capture: (_action, _rule, link) => {
    link.isCapturing = true;
  },
  multimatch: (_action, _rule, link) => {
    link.isMultiMatch = true;
  },
  t: (action, _rule, link, context) => {
    const name = requireValue(action, 'the name of a transformation', context);
    if (name === null) return;
    if (name.toLowerCase() === 'none') {
      link.transformations = [];
      return;
    }
    const found = transformationFor(name, context);
    if (found !== undefined) link.transformations.push(found);
    else {
      const near = closestName(name, transformationNames);
      context.diagnostics.error(
        action.valuePlace,
        'There is no such transformation',
        name,
        near ?? 'a transformation of SecLang',
      );
    }
  },
  skip: (action, rule, link, context) => {
    const count = Number(action.value);
    if (!link.isHead) context.diagnostics.error(action.place, 'skip belongs to the first rule of a chain', action.name);
    else if (Number.isInteger(count) && count > 0) rule.skip = { count };
    else
      context.diagnostics.error(
        action.valuePlace,
        'This is not a number of rules',
        action.value ?? '',
        'a whole number above 0',
      );
  },
  skipafter: (action, rule, link, context) => {
    const marker = requireValue(action, 'a marker or rule id', context);
    if (!link.isHead)
      context.diagnostics.error(action.place, 'skipAfter belongs to the first rule of a chain', action.name);
    else if (marker !== null) rule.skip = { marker, place: action.valuePlace };
  },
};
