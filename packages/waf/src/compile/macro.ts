import type { Macro } from '../model/macro.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Place } from '../seclang/diagnostic.ts';
import { refusedVariables, variableNamed } from '../variables/registry.ts';
import type { CompileContext } from './context.ts';
import { readMacro } from './read-macro.ts';

const reference = /%\{([^{}]*)\}/g;

/** Whether a text has anything to expand. */
export const hasMacro = (text: string): boolean => /%\{[^{}]*\}/.test(text);

/** Compiles `text with %{VAR} and %{VAR.name}`; an unknown variable is an error at `place`. */
export const compileMacro = (text: string, place: Place, context: CompileContext): Macro => {
  const parts: ((tx: Transaction) => string)[] = [];
  const slots: number[] = [];
  let readsOnlyTx = true;
  let last = 0;
  for (const found of text.matchAll(reference)) {
    if (found.index > last) parts.push(literal(text.slice(last, found.index)));
    const part = compileReference(found[1]!, found[0], place, context);
    if (part.slot === null) readsOnlyTx = false;
    else slots.push(part.slot);
    parts.push(part.read);
    last = found.index + found[0].length;
  }
  if (text.includes('%{', last)) {
    context.diagnostics.warning(
      place,
      'This macro is never closed: it stands for itself',
      text.slice(text.indexOf('%{', last)),
    );
  }
  if (parts.length === 0) return { constant: text, slots, readsOnlyTx, expand: () => text };
  if (last < text.length) parts.push(literal(text.slice(last)));
  if (parts.length === 1) return { constant: null, slots, readsOnlyTx, expand: parts[0]! };
  return {
    constant: null,
    slots,
    readsOnlyTx,
    expand(tx) {
      let result = '';
      for (const part of parts) result += part(tx);
      return result;
    },
  };
};

/** `slot` is that of a TX variable, null for every other. */
type Reference = { readonly slot: number | null; readonly read: (tx: Transaction) => string };

const literal = (text: string) => (): string => text;

const compileReference = (inside: string, token: string, place: Place, context: CompileContext): Reference => {
  const split = /^\s*([A-Za-z_][A-Za-z0-9_]*)(?:[.:](.*?))?\s*$/s.exec(inside);
  const variable = split === null ? undefined : variableNamed(split[1]!.toUpperCase());
  if (split === null || variable === undefined) {
    const reason = split === null ? undefined : refusedVariables.get(split[1]!.toUpperCase());
    const message = reason === undefined ? 'This macro names no variable' : `This variable is not supported: ${reason}`;
    context.diagnostics.error(place, message, token, '%{VARIABLE} or %{COLLECTION.name}');
    return { slot: null, read: literal('') };
  }
  const name = split[2] ?? null;
  if (name === '') {
    context.diagnostics.error(place, 'This macro names nothing behind the dot', token, '%{COLLECTION.name}');
  }
  if (name !== null && /^\/.*\/$/s.test(name)) {
    const expected = 'the name of one variable: a macro stands for one value';
    context.diagnostics.error(place, 'A macro takes no pattern', token, expected);
  }
  const slot = variable.kind === 'tx' && name !== null ? context.txNames.slotFor(name) : null;
  return { slot, read: readMacro(variable, name, context.txNames) };
};
