import { atoi } from '../bytes/bytes.ts';
import { compileMacro } from '../compile/macro.ts';
import type { ActionReader } from '../compile/rule-parts.ts';
import { withFootprint } from '../model/effect.ts';
import { requireValue } from './require-value.ts';
import { persistentCollections } from './setvar.ts';

/** `setsid:KEY` and its like open a collection under the key. */
const opens =
  (collection: string): ActionReader =>
  (action, _rule, link, context) => {
    const key = requireValue(action, 'a key', context);
    if (key === null) return;
    const macro = compileMacro(key, action.valuePlace, context);
    link.effects.push(withFootprint((tx) => tx.openCollection(collection, macro.expand(tx)), { reads: macro.slots }));
  };

/** Actions on persistent collections. */
export const collectionActions: Readonly<Record<string, ActionReader>> = {
  initcol: (action, _rule, link, context) => {
    const written = requireValue(action, 'collection=key', context);
    if (written === null) return;
    const found = /^\s*([A-Za-z]+)\s*=\s*(.+)$/s.exec(written);
    const collection = (found?.[1] ?? '').toLowerCase();
    if (found === null || !persistentCollections.has(collection)) {
      context.diagnostics.error(
        action.valuePlace,
        'initcol cannot open this',
        written,
        'ip, global, session, user or resource, = and a key',
      );
      return;
    }
    const macro = compileMacro(found[2]!, action.valuePlace, context);
    link.effects.push(withFootprint((tx) => tx.openCollection(collection, macro.expand(tx)), { reads: macro.slots }));
  },
  setsid: opens('session'),
  setuid: opens('user'),
  setrsc: opens('resource'),
  expirevar: (action, _rule, link, context) => {
    const written = requireValue(action, 'collection.name=seconds', context);
    if (written === null) return;
    const found = /^\s*([A-Za-z]+)\.([^=]+?)\s*=\s*(.+)$/s.exec(written);
    const collection = (found?.[1] ?? '').toLowerCase();
    if (found === null || !(collection === 'tx' || persistentCollections.has(collection))) {
      context.diagnostics.error(action.valuePlace, 'expirevar cannot read this', written, 'collection.name=seconds');
      return;
    }
    if (collection === 'tx') {
      context.diagnostics.warning(
        action.valuePlace,
        'TX ends with its transaction; expirevar has no effect on it',
        written,
      );
      return;
    }
    const name = compileMacro(found[2]!, action.valuePlace, context);
    const seconds = compileMacro(found[3]!, action.valuePlace, context);
    if (seconds.constant !== null && !/^\s*\d+\s*$/.test(seconds.constant)) {
      context.diagnostics.error(
        action.valuePlace,
        'This is not a number of seconds',
        found[3]!,
        'a whole number or a macro',
      );
    }
    link.effects.push((tx) => tx.expirePersistent(collection, name.expand(tx).toLowerCase(), atoi(seconds.expand(tx))));
  },
  setenv: (action, _rule, link, context) => {
    const written = requireValue(action, 'NAME=value', context);
    if (written === null) return;
    const found = /^\s*(!?)([^=]+?)\s*(?:=(.*))?$/s.exec(written);
    if (found === null) {
      context.diagnostics.error(action.valuePlace, 'setenv cannot read this', written, 'NAME=value');
      return;
    }
    const [, unset, name, value] = found;
    const macro = compileMacro(value ?? '1', action.valuePlace, context);
    link.effects.push((tx) => {
      if (unset === '!') tx.environment.delete(name!);
      else tx.environment.set(name!, macro.expand(tx));
    });
  },
};
