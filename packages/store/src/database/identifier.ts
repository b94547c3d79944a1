/** What names a row from outside: the integer `id`, or the `uuid` in lower case. */
export type Identifier = number | string;

/** The column that an identifier is looked up in. */
export const columnOf = (identifier: Identifier): 'id' | 'uuid' => (typeof identifier === 'number' ? 'id' : 'uuid');
