import { Refusal, refuse } from '@sallyport/store/errors';
import { anyVersion, type CheckVersion, entityTag, versionOf } from '@sallyport/store/object-version';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

const TAGS = /^\s*(?:(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"\s*(?:,\s*|$))+$/;
const TAG = /(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"/g;

const parseTags = (text: string): { weak: boolean; tag: string }[] =>
  [...text.matchAll(TAG)].map(([, weak, tag = '']) => ({ weak: weak !== undefined, tag }));

/** The check that `If-Match` of a request asks for (RFC 9110, section 13.1.1). Throws a 400 for one that can't be read. */
export const ifMatch = ({ headers }: FastifyRequest): CheckVersion => {
  const text = headers['if-match'];
  if (text === undefined || text.trim() === '*') return anyVersion;
  // Not "matches nothing" and not "matches all": both would surprise who forgot the quotes.
  if (!TAGS.test(text)) throw refuse.invalid('If-Match must be * or entity tags in quotes, as ETag gave them');
  const tags = parseTags(text);
  // Weak tags never match; of a strong one the state counts not, see above.
  const versions = tags.filter(({ weak }) => !weak).map(({ tag }) => tag.split('.', 1)[0]);
  return (current) => {
    if (versions.includes(versionOf(current))) return;
    const message = 'The object has changed since: If-Match names another version';
    throw new Refusal(412, message, { current, headers: { etag: entityTag(current) } });
  };
};

/** Gives the answer the tag of the object it holds; returns the object. */
export const tagged = <T extends object>(reply: FastifyReply, object: T): T => {
  reply.header('etag', entityTag(object));
  return object;
};

/**
 * Makes the answer a 201 that says where a new object is and carries its tag, whatever else it holds; `path` below the
 * API root, e.g. `proxy-hosts/<uuid>`.
 */
export const locate = (reply: FastifyReply, path: string, object: object): void => {
  reply.code(201).header('location', `/api/v1/${path}`);
  tagged(reply, object);
};

/** Answers 201 with a new object. */
export const created = <T extends object>(reply: FastifyReply, path: string, object: T): T => {
  locate(reply, path, object);
  return object;
};

const isKnown = (text: string, etag: string): boolean =>
  text.trim() === '*' || parseTags(text).some(({ tag }) => `"${tag}"` === etag);

/** Answers 304 without a body to who already has the object (`If-None-Match`). */
export const registerVersions = (app: FastifyInstance): void => {
  // Not async: every answer passes here, and few ask.
  app.addHook('onSend', (request, reply, payload, done) => {
    const known = request.headers['if-none-match'];
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (known === undefined || !isRead || reply.statusCode !== 200) return done(null, payload);
    const etag = reply.getHeader('etag');
    if (typeof etag !== 'string' || !isKnown(known, etag)) return done(null, payload);
    reply.code(304).removeHeader('content-type');
    reply.removeHeader('content-length');
    // Fastify itself leaves out the body of a HEAD, and fails on one that is gone already.
    return done(null, request.method === 'HEAD' ? payload : null);
  });
};
