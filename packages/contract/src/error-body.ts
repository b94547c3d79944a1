import { type Static, Type } from './schema.ts';

export const ErrorBody = Type.Object(
  {
    error: Type.String({ description: 'What went wrong, in one sentence a person can act on.' }),
    code: Type.Integer({ description: 'The HTTP status, repeated for callers that only see the body.' }),
    details: Type.Optional(Type.String({ description: 'More about the cause, where there is more to say.' })),
    current: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: 'With 412: the object as it is now.' }),
    ),
    warning: Type.Optional(Type.String({ description: 'Advice that goes with the refusal.' })),
  },
  { title: 'ErrorBody', description: 'The body of every refusal (spec, Errors 1).' },
);
export type ErrorBody = Static<typeof ErrorBody>;
