import { randomUUID } from 'node:crypto';
import helmet from '@fastify/helmet';
import multipart from '@fastify/multipart';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { Config } from '@sallyport/deployment/config';
import Fastify, { LogController } from 'fastify';
import type { Logger } from 'pino';
import type { Accounts } from './features/accounts/index.ts';
import type { ConfigAsCode } from './features/as-code/index.ts';
import type { Changes } from './features/history/index.ts';
import type { Protection } from './features/protection/index.ts';
import type { System } from './features/system/index.ts';
import type { Traffic } from './features/traffic/index.ts';
import type { App } from './http/app-type.ts';
import { registerBatch } from './http/batch.ts';
import { registerBodyParser } from './http/body-parser.ts';
import { registerConfirm } from './http/confirm.ts';
import { answerUnroutable, registerErrorMapping } from './http/error-mapping.ts';
import type { BeginRequest } from './http/idempotency/answer.ts';
import { registerIdempotency } from './http/idempotency/register.ts';
import type { Identify } from './http/identify.ts';
import { registerOpenApi } from './http/openapi.ts';
import { type PolicyOptions, registerPolicy } from './http/policy.ts';
import { registerSerialization } from './http/serialization.ts';
import { answerUnreadable, registerRequestChecks } from './http/unreadable-request.ts';
import { registerValidation } from './http/validation.ts';
import { registerVersions } from './http/versions.ts';
import { createWebInterface } from './http/web-interface.ts';
import { asksForWebSocket, registerWebSocket } from './http/websocket.ts';

export interface AppDeps {
  config: Pick<Config, 'apiAuth'>;
  identify: Identify;
  clientAddress: PolicyOptions['clientAddress'];
  /** Makes a request that is sent twice happen once. */
  beginRequest: BeginRequest;
  log: Logger;
  features: {
    system: System;
    accounts: Accounts;
    protection: Protection;
    traffic: Traffic;
    changes: Changes;
    asCode: ConfigAsCode;
  };
}

const BODY_LIMIT = 1024 * 1024;
const REQUEST_TIMEOUT_MS = 120_000;

/** Puts the features behind HTTP. Nothing listens yet. */
export const createApp = async (deps: AppDeps): Promise<App> => {
  const app = Fastify({
    // Where it listens is ours to say; Fastify has nothing else to tell at this level.
    loggerInstance: (deps.log.level === 'info' ? deps.log.child({}, { level: 'warn' }) : deps.log) as never,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // A slow disk or a machine that stood still is no fault of a plugin. How long a start may take is the supervisor's to say.
    pluginTimeout: 0,
    routerOptions: { maxParamLength: 256, ignoreTrailingSlash: true },
    forceCloseConnections: true,
    genReqId: () => randomUUID(),
    http: { shouldUpgradeCallback: asksForWebSocket, requireHostHeader: false },
    clientErrorHandler: answerUnreadable,
    frameworkErrors: answerUnroutable as never,
  }).withTypeProvider<TypeBoxTypeProvider>() as unknown as App;

  const webInterface = createWebInterface();
  registerErrorMapping(app as never, { answerPage: webInterface.answerPage });
  // Before the policy: what that refuses has to be known as an upgrade by then, or its socket would stay open.
  await registerWebSocket(app);
  registerRequestChecks(app as never);
  // Before the policy: refusals carry its headers too.
  await app.register(helmet, {
    // The proxy host in front of the UI decides about HSTS; sent from here it would bind every subdomain.
    strictTransportSecurity: false,
    contentSecurityPolicy: { directives: { 'upgrade-insecure-requests': null } },
  });
  registerVersions(app as never);
  registerPolicy(app as never, {
    identify: deps.identify,
    clientAddress: deps.clientAddress,
    isOpen: deps.config.apiAuth === 'open',
  });
  // Before what a request is told apart by: who confirms is part of who makes it.
  registerBatch(app as never);
  registerConfirm(app as never);
  registerIdempotency(app as never, deps.beginRequest);
  registerBodyParser(app as never);
  registerValidation(app as never);
  registerSerialization(app as never);
  await app.register(multipart, { throwFileSizeLimit: false });
  await registerOpenApi(app);
  const { system, accounts, protection, traffic, changes, asCode } = deps.features;
  await app.register(
    async (api) => {
      // In the order of the API document. Functions, not plugins: a context for each set of routes would make a start a third longer, and
      // only those that read bodies in their own way need one.
      await system.healthRoutes(api);
      await traffic.routes(api);
      await accounts.routes(api);
      await system.settingRoutes(api);
      await system.backupRoutes(api);
      await system.importRoutes(api);
      await asCode.routes(api);
      await accounts.auditRoutes(api);
      await protection.routes(api);
      await changes.routes(api);
      await system.emergencyRoutes(api);
    },
    { prefix: '/api/v1' },
  );
  await webInterface.register(app);
  await system.metricsRoute(app);
  await app.register(accounts.meRoute, { prefix: '/api' });
  return app;
};
