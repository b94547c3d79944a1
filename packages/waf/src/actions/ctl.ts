import type { ActionReader } from '../compile/rule-parts.ts';
import { type Effect, withFootprint } from '../model/effect.ts';
import type { BodyProcessor } from '../model/transaction.ts';
import type { ControlReader } from './control-reader.ts';
import { ruleControls } from './ctl-rules.ts';
import { requireValue } from './require-value.ts';

const choice =
  <T>(options: Readonly<Record<string, T>>, effect: (value: T) => Effect): ControlReader =>
  (value, action, context) => {
    const word = value.trim().toLowerCase();
    if (Object.hasOwn(options, word)) return effect(options[word]!);
    context.diagnostics.error(
      action.valuePlace,
      'This ctl does not take that value',
      value,
      Object.keys(options).join(', '),
    );
    return null;
  };

/** An effect that neither touches TX nor decides which rules run. */
const harmless = (effect: Effect): Effect => withFootprint(effect, {});

/** Of what is about an audit log: the caller writes that, and every rule set has some of these. */
const noEffect = harmless(() => undefined);

const onOff = { on: true, off: false };
const engineModes = { on: 'on', off: 'off', detectiononly: 'detection-only' } as const;
const auditModes = { on: null, off: null, relevantonly: null };
const processors: Readonly<Record<string, BodyProcessor>> = {
  urlencoded: 'URLENCODED',
  multipart: 'MULTIPART',
  xml: 'XML',
  json: 'JSON',
};

const controls: Readonly<Record<string, ControlReader>> = {
  ruleengine: choice(engineModes, (mode) => (tx) => {
    tx.engineMode = mode;
  }),
  requestbodyaccess: choice(onOff, (isOn) =>
    harmless((tx) => {
      tx.isRequestBodyAccessed = isOn;
    }),
  ),
  responsebodyaccess: choice(onOff, (isOn) =>
    harmless((tx) => {
      tx.isResponseBodyAccessed = isOn;
    }),
  ),
  forcerequestbodyvariable: choice(onOff, (isOn) =>
    harmless((tx) => {
      tx.isRequestBodyForced = isOn;
    }),
  ),
  requestbodyprocessor: choice(processors, (processor) =>
    harmless((tx) => {
      tx.bodyProcessor = processor;
    }),
  ),
  requestbodylimit: (value, action, context) => {
    const limit = Number(value);
    if (Number.isInteger(limit) && limit > 0) {
      return (tx) => {
        tx.requestBodyLimit = Math.min(limit, tx.maxBodyBytes);
      };
    }
    context.diagnostics.error(action.valuePlace, 'This is not a number of bytes', value, 'a whole number above 0');
    return null;
  },
  auditengine: choice(auditModes, () => noEffect),
  auditlogparts: (value, action, context) => {
    if (/^[+-]?[A-K]+Z?$/.test(value.trim())) return noEffect;
    context.diagnostics.error(
      action.valuePlace,
      'These are not audit log parts',
      value,
      '+ or - and letters from A to K',
    );
    return null;
  },
  debugloglevel: (value, action, context) => {
    context.diagnostics.warning(action.valuePlace, 'There is no debug log; this ctl has no effect', value);
    return () => undefined;
  },
  ...ruleControls,
};

const refusedControls: ReadonlyMap<string, string> = new Map([
  ['hashengine', 'responses are not rewritten'],
  ['hashenforcement', 'responses are not rewritten'],
  ['parsexmlintoargs', 'XML values are not copied into ARGS; rules see them as XML'],
]);

/** `ctl:option=value`: changes the running transaction. */
export const ctlAction: ActionReader = (action, _rule, link, context) => {
  const written = requireValue(action, 'option=value', context);
  if (written === null) return;
  const found = /^\s*([A-Za-z]+)\s*=\s*(.*)$/s.exec(written);
  const name = (found?.[1] ?? '').toLowerCase();
  const refusal = refusedControls.get(name);
  if (refusal !== undefined) {
    context.diagnostics.error(action.valuePlace, `This ctl is not supported: ${refusal}`, written);
  } else if (found === null || !Object.hasOwn(controls, name)) {
    context.diagnostics.error(
      action.valuePlace,
      'There is no such ctl',
      written,
      `one of ${Object.keys(controls).join(', ')}`,
    );
  } else {
    const effect = controls[name]!(found[2]!, action, context);
    if (effect !== null) link.effects.push(effect);
  }
};
