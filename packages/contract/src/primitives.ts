import { type Static, Type } from './schema.ts';

/** A moment in UTC as ISO 8601 / RFC 3339, e.g. `2026-11-20T22:30:00.000Z` (spec, Conventions). */
export const Timestamp = Type.String({ format: 'date-time', description: 'ISO 8601 / RFC 3339, in UTC.' });

export const Uuid = Type.String({ format: 'uuid', description: 'Server-assigned identifier, used in paths.' });

export const Port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port, 1–65535.' });

/** A number given by the server to a row; small enough for every database's integer. */
export const RowId = Type.Integer({ minimum: 1, maximum: 2_147_483_647 });

/** The keyword of a body's schema that names what `ignoring` says; in OpenAPI an extension. */
export const SERVER_ASSIGNED = 'x-server-assigned';

/**
 * Options of a body's schema: its title, and the fields of the resource that the server assigns. They are ignored in
 * a body, so that what GET gave can be sent back; any other field that the schema does not have is refused.
 */
export const ignoring = (title: string, assigned: readonly string[]) => ({ title, [SERVER_ASSIGNED]: assigned });

/** The keyword of a body's schema that says of fields why they are not taken, instead of guessing what was meant. */
export const REFUSED_FIELDS = 'x-refused-fields';

/** The keyword of a field's schema with the whole sentence that refuses any value it does not take, where the spec has one. */
export const REFUSAL = 'x-refusal';

/** One of a few strings. */
export const choice = <const T extends readonly string[]>(
  values: T,
  options: { description?: string; [REFUSAL]?: string } = {},
) => Type.Unsafe<T[number]>({ type: 'string', enum: values, ...options });

/** The query of list endpoints; an absent field means that the whole list is sent, as the spec has it. */
export const ListQuery = Type.Object(
  {
    page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Page number, from 1. Default 1.' }),
    ),
    per_page: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1_000, description: 'Rows a page. Without it and `page`, the whole list.' }),
    ),
    sort: Type.Optional(Type.String({ maxLength: 64, description: 'Field to sort by.' })),
    order: Type.Optional(
      choice(['asc', 'desc'], {
        description: 'Default asc; a list that shows the newest first does so unless it is sorted.',
      }),
    ),
    search: Type.Optional(Type.String({ maxLength: 255, description: 'Keeps rows that contain this text.' })),
  },
  { title: 'ListQuery' },
);
export type ListQuery = Static<typeof ListQuery>;
