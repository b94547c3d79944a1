import { ByteWriter } from './byte-writer.ts';
import { type ActionValue, writeTypedData } from './typed-data.ts';

const SCOPES = { proc: 0, sess: 1, txn: 2, req: 3, res: 4 } as const;
const SET_VAR = 1;
const UNSET_VAR = 2;

/** Whose variable it is: the process, the client's session, the transaction, its request or its response. */
export type Scope = keyof typeof SCOPES;

/** What HAProxy is told to do; it puts the SPOE agent's var-prefix before `name` and ignores names it does not know. */
export type Action =
  | { type: 'set-var'; scope: Scope; name: string; value: ActionValue }
  | { type: 'unset-var'; scope: Scope; name: string };

/** An action that gives a variable its value. */
export const setVar = (scope: Scope, name: string, value: ActionValue): Action => ({
  type: 'set-var',
  scope,
  name,
  value,
});

/** An action that removes a variable. */
export const unsetVar = (scope: Scope, name: string): Action => ({ type: 'unset-var', scope, name });

/** Actions in wire form: what a handler returns for an answer that it gives often, to encode it once. */
export class EncodedActions {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

/** Appends a LIST-OF-ACTIONS. Throws RangeError for a name HAProxy could not know, or a value that SPOP has no form for. */
export const writeActions = (writer: ByteWriter, actions: readonly Action[] | EncodedActions): void => {
  if (actions instanceof EncodedActions) {
    writer.raw(actions.bytes);
    return;
  }
  for (const action of actions) {
    // Without this check a typing error would be dropped in silence by HAProxy, and with it the verdict.
    if (!/^[a-zA-Z0-9_.]{1,255}$/.test(action.name)) {
      throw new RangeError(`not a variable name: ${JSON.stringify(action.name)}`);
    }
    const isSet = action.type === 'set-var';
    writer.byte(isSet ? SET_VAR : UNSET_VAR);
    writer.byte(isSet ? 3 : 2);
    writer.byte(SCOPES[action.scope]);
    writer.text(action.name);
    if (isSet) writeTypedData(writer, action.value);
  }
};

/** Encodes actions once, for a handler to return many times. Throws as `writeActions`. */
export const encodeActions = (actions: readonly Action[]): EncodedActions => {
  const writer = new ByteWriter(64);
  writeActions(writer, actions);
  return new EncodedActions(new Uint8Array(writer.bytes.subarray(0, writer.length)));
};
