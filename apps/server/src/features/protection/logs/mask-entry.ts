import type { LogEntry } from '@sallyport/contract';

/** What visitors of a host sent; it may hold what is theirs alone. */
const VISITORS_OWN = new Set(['request_uri', 'user_agent']);

/** What a standard user sees of an entry: everything but the query of the request and how the visitor's program calls itself. */
export const maskEntry = ({ fields, ...entry }: LogEntry): LogEntry => {
  const shown = Object.entries(fields).filter(([name]) => !VISITORS_OWN.has(name));
  const uri = fields.request_uri;
  return {
    ...entry,
    fields: {
      ...Object.fromEntries(shown),
      ...(typeof uri === 'string' ? { request_uri: uri.split('?', 1)[0] } : {}),
    },
  };
};
