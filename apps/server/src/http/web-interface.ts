import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { App } from './app-type.ts';
import { ASSETS_PREFIX } from './policy.ts';

/** Where `npm run build --workspace apps/web` puts the web interface. */
const BUILT = join(import.meta.dirname, '../../../web/dist');

/** Written into the page by its build, wherever the nonce belongs. */
const NONCE = '__CSP_NONCE__';

/** What a page may load: its own files, and styles that carry its nonce. No other origin, no script in the page. */
const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

const NOT_BUILT =
  '<!doctype html><title>Sallyport</title><p>The web interface is not built. Start with <code>bin/up</code>, or run ' +
  '<code>npm run build --workspace apps/web</code>. The API is at <a href="/api/docs">/api/docs</a>.';

/** Whether somebody looks at this address in a browser. */
const isForPeople = ({ method, url, headers }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') &&
  !/^\/(?:api|assets|metrics)(?:[/?]|$)/.test(url) &&
  headers.accept?.includes('text/html') === true;

/** Serves the web interface: its files, and its page at every address of a view, which only the page itself knows. */
export const createWebInterface = (built = BUILT) => {
  let page: string | undefined;
  /** As it is now: it names the assets that are there. A build that is under way takes its place as a whole, or leaves it. */
  const readPage = (): string | undefined => {
    try {
      page = readFileSync(join(built, 'index.html'), 'utf8');
    } catch {
      // Not built (yet), or being replaced this very moment.
    }
    return page;
  };

  const sendPage = (reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64');
    const text = readPage();
    return reply
      .code(text === undefined ? 503 : 200)
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy': policyOf(nonce),
        'referrer-policy': 'same-origin',
      })
      .send(text === undefined ? NOT_BUILT : text.replaceAll(NONCE, nonce));
  };

  return {
    async register(app: App): Promise<void> {
      await app.register(fastifyStatic, {
        // The second: those of the build before, of which pages that are open fetch more.
        root: [join(built, 'assets'), join(built, 'before')],
        // They may be built later.
        suppressWarning: true,
        prefix: ASSETS_PREFIX,
        index: false,
        dotfiles: 'ignore',
        // Their names are made of what is in them.
        immutable: true,
        maxAge: '365d',
        preCompressed: true,
      });
      app.get('/', { config: { policy: 'public' }, schema: { hide: true } }, async (_request, reply) =>
        sendPage(reply),
      );
    },

    /** For an address that no route has: answers with the page when it is one that people look at. */
    answerPage(request: FastifyRequest, reply: FastifyReply): boolean {
      if (!isForPeople(request)) return false;
      sendPage(reply);
      return true;
    },
  };
};
