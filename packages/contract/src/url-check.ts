import { type Static, Type } from './schema.ts';

export const UrlToCheck = Type.Object(
  { url: Type.String({ minLength: 1, maxLength: 2_048 }) },
  { title: 'UrlToCheck' },
);
export type UrlToCheck = Static<typeof UrlToCheck>;

export const ValidUrl = Type.Object(
  {
    valid: Type.Literal(true),
    normalized: Type.String({ description: 'Without trailing slashes.' }),
    warning: Type.Optional(Type.String({ description: 'Present for http:// URLs.' })),
  },
  { title: 'ValidUrl' },
);
export type ValidUrl = Static<typeof ValidUrl>;

/** The spec's own body for a URL that is refused; a body that can't be read gets the general one, without `valid`. */
export const InvalidUrl = Type.Object(
  {
    valid: Type.Optional(Type.Literal(false)),
    error: Type.String(),
    code: Type.Integer(),
    details: Type.Optional(Type.String()),
  },
  { title: 'InvalidUrl' },
);

export const UrlTest = Type.Object(
  {
    reachable: Type.Boolean(),
    latency: Type.Integer({ description: 'Milliseconds until the answer; 0 if unreachable.' }),
    message: Type.String(),
    error: Type.String({ description: 'Empty on success.' }),
  },
  { title: 'UrlTest' },
);
export type UrlTest = Static<typeof UrlTest>;
