import { compileMacro } from '../compile/macro.ts';
import type { ActionReader } from '../compile/rule-parts.ts';
import { requireValue } from './require-value.ts';

const headOnly =
  (read: ActionReader): ActionReader =>
  (action, rule, link, context) => {
    if (link.isHead) read(action, rule, link, context);
    else context.diagnostics.error(action.place, `${action.name} belongs to the first rule of a chain`, action.name);
  };

const allowScopes = { '': 'transaction', phase: 'phase', request: 'request' } as const;

/** Actions that decide what happens to the transaction. The last one written wins. */
export const disruptiveActions: Readonly<Record<string, ActionReader>> = {
  pass: headOnly((_action, rule) => {
    rule.disruption = { kind: 'pass' };
  }),
  block: headOnly((_action, rule) => {
    rule.disruption = { kind: 'block' };
  }),
  deny: headOnly((_action, rule) => {
    rule.disruption = { kind: 'deny', status: 403 };
  }),
  drop: headOnly((_action, rule) => {
    rule.disruption = { kind: 'drop' };
  }),
  allow: headOnly((action, rule, _link, context) => {
    const scope = (action.value ?? '').toLowerCase();
    if (Object.hasOwn(allowScopes, scope)) {
      rule.disruption = { kind: 'allow', scope: allowScopes[scope as keyof typeof allowScopes] };
    } else
      context.diagnostics.error(action.valuePlace, 'This is not a scope of allow', scope, 'phase, request or nothing');
  }),
  redirect: headOnly((action, rule, _link, context) => {
    const url = requireValue(action, 'a URL', context);
    if (url === null) return;
    rule.disruption = { kind: 'redirect', status: 302, url: compileMacro(url, action.valuePlace, context) };
  }),
  // ModSecurity takes it on any rule of a chain.
  status: (action, rule, _link, context) => {
    const status = Number(action.value);
    if (Number.isInteger(status) && status >= 100 && status <= 599) rule.status = status;
    else context.diagnostics.error(action.valuePlace, 'This is not an HTTP status', action.value ?? '', '100 to 599');
  },
};
