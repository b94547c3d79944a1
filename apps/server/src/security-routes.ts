import { accessListRoutes } from './features/access-lists/routes.ts';
import { blockRoutes } from './features/blocks/routes.ts';
import { decisionRoutes } from './features/decisions/routes.ts';
import { logRoutes } from './features/logs/routes.ts';
import { notificationRoutes } from './features/notifications/routes.ts';
import { rulesetRoutes } from './features/rulesets/routes.ts';
import { securityRoutes } from './features/security/routes.ts';
import type { App } from './http/app-type.ts';
import type { SecuritySuite } from './security-suite.ts';

/** All routes of the security suite. */
export const securitySuiteRoutes =
  (suite: SecuritySuite) =>
  async (app: App): Promise<void> => {
    await app.register(securityRoutes(suite.security));
    await app.register(decisionRoutes(suite.decisions));
    await app.register(rulesetRoutes(suite.rulesets));
    await app.register(accessListRoutes(suite.accessLists));
    await app.register(notificationRoutes(suite.notifications));
    await app.register(blockRoutes(suite.blocks));
    await app.register(logRoutes(suite.hub, suite.liveReaders));
  };
