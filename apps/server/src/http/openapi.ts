import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { App } from './app-type.ts';
import { type ApiDocument, completeDocument } from './openapi-document.ts';
import { DOCS_PREFIX } from './policy.ts';
import { SECURE_SESSION_COOKIE, SESSION_COOKIE } from './session-cookie.ts';

const TAGS = [
  ['proxy-hosts', 'Names and the origins they lead to.'],
  ['acme', 'Accounts with certificate authorities.'],
  ['remote-servers', 'Machines that origins run on.'],
  ['containers', 'What runs here under Docker or Podman.'],
  ['certificates', 'What TLS clients get.'],
  ['dns-providers', 'Who may write records of challenges.'],
  ['access-lists', 'Who may reach a host.'],
  ['security', 'The suite: switches, firewall, limits.'],
  ['decisions', 'Banned addresses.'],
  ['rulesets', 'Rules of the firewall.'],
  ['blocks', 'What was refused, and why.'],
  ['notifications', 'Who is told of security events.'],
  ['logs', 'The live stream of security events.'],
  ['auth', 'Signing in and out.'],
  ['users', 'Who may sign in.'],
  ['tokens', 'Credentials of programs.'],
  ['settings', 'Settings of the service.'],
  ['as-code', 'All that is configured, as one document.'],
  ['history', 'What was changed, and taking it back.'],
  ['audit', 'Who changed what.'],
  ['health', 'For probes and scrapers.'],
] as const;

const COOKIE = `Set by login and setup. Over TLS its name is ${SECURE_SESSION_COOKIE}.`;

/** Publishes the OpenAPI document made from the very schemas that validate, and a page to read it. */
export const registerOpenApi = async (app: App): Promise<void> => {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Sallyport',
        version: '1',
        description: 'Management API of the Sallyport reverse proxy.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      tags: TAGS.map(([name, description]) => ({ name, description })),
      // Where the document comes from; the paths hold the rest.
      servers: [{ url: '/' }],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'A session token of login, or an API token.' },
          session: { type: 'apiKey', in: 'cookie', name: SESSION_COOKIE, description: COOKIE },
        },
      },
    },
    transformObject: (given) =>
      'openapiObject' in given
        ? (completeDocument(given.openapiObject as ApiDocument, app.routePolicies) as typeof given.openapiObject)
        : given.swaggerObject,
  });
  app.get('/api/v1/openapi.json', { config: { policy: 'public' }, schema: { hide: true } }, async () => app.swagger());
  // By default the page has the document checked by a service on the internet.
  await app.register(swaggerUi, { routePrefix: DOCS_PREFIX, uiConfig: { validatorUrl: null } });
};
