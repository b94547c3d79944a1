import type { App } from '../../http/app-type.ts';
import { accessListRoutes } from './access-lists/routes.ts';
import { blockRoutes } from './blocks/routes.ts';
import { decisionRoutes } from './decisions/routes.ts';
import type { SecuritySuite } from './index.ts';
import { logRoutes } from './logs/routes.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { rulesetRoutes } from './rulesets/routes.ts';
import { securityRoutes } from './suite/routes.ts';

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
