import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../../test/support/free-ports.ts';
import { bearer, type Caller, createGiven, fromOutside } from '../testing/given-accounts.ts';
import { startApp, type TestApp } from '../testing/start-app.ts';
import type { Policy } from './policy.ts';

/**
 * Who may call what (spec, Authentication; contract.md). Every route of the service needs a line: one without is found
 * by the test below. Paths outside `/api/v1` are given whole.
 */
const ROUTES: Readonly<Record<string, Policy>> = {
  'GET /health': 'public',
  'GET /metrics': 'public',
  'GET /traffic/figures': 'member',
  'POST /emergency/security-reset': 'public',
  'GET /emergency/status': 'member',
  'POST /emergency/drill': 'administrator',
  'GET /openapi.json': 'public',
  'GET /api/auth/me': 'account',
  'GET /auth/me': 'account',
  'GET /setup': 'public',
  'POST /setup': 'public',
  'POST /auth/login': 'public',
  'POST /auth/logout': 'account',
  'POST /auth/change-password': 'account',
  'GET /auth/sessions': 'account',
  'DELETE /auth/sessions/:id': 'account',
  'POST /auth/totp/setup': 'account',
  'POST /auth/totp/enable': 'account',
  'POST /auth/totp/disable': 'account',
  'POST /auth/totp/recovery-codes': 'account',
  'GET /invite/validate': 'public',
  'POST /invite/accept': 'public',
  'GET /users': 'administrator',
  'POST /users': 'granting',
  'GET /users/:id': 'administrator',
  'PUT /users/:id': 'granting',
  'DELETE /users/:id': 'administrator',
  'DELETE /users/:id/totp': 'granting',
  'POST /users/invite': 'granting',
  'POST /users/preview-invite-url': 'administrator',
  'POST /users/:id/resend-invite': 'granting',
  'GET /tokens': 'administrator',
  'GET /tokens/:id': 'administrator',
  'POST /tokens': 'granting',
  'DELETE /tokens/:id': 'administrator',
  'GET /settings': 'administrator',
  'POST /settings': 'administrator',
  'GET /settings/:key': 'administrator',
  'DELETE /settings/:key': 'administrator',
  'POST /settings/validate-url': 'administrator',
  'POST /settings/test-url': 'administrator',
  'POST /settings/test-mail': 'administrator',
  'GET /backups': 'administrator',
  'GET /backups/:name': 'administrator',
  'POST /backups': 'administrator',
  'POST /backups/upload': 'administrator',
  'GET /backups/:name/download': 'administrator',
  'POST /backups/copies/test': 'administrator',
  'POST /backups/:name/verify': 'administrator',
  'POST /backups/:name/restore': 'administrator',
  'DELETE /backups/:name': 'administrator',
  'GET /import/status': 'sensitive',
  'GET /import/preview': 'sensitive',
  'GET /import/sessions/:uuid': 'sensitive',
  'POST /import/upload': 'sensitive',
  'POST /import/upload-multi': 'sensitive',
  'POST /import/commit': 'sensitive',
  'POST /import/verify': 'sensitive',
  'DELETE /import/cancel': 'sensitive',
  'GET /export': 'sensitive',
  'POST /apply': 'sensitive',
  'GET /audit-logs': 'administrator',
  'GET /audit-logs/verify': 'administrator',
  'GET /history': 'member',
  'GET /security/confirm': 'member',
  'POST /security/confirm/:id': 'member',
  'POST /history/:id/revert': 'member',
  'POST /history/batches/:batch/revert': 'member',
  'GET /proxy-hosts/:uuid/history': 'member',
  'GET /remote-servers/:uuid/history': 'member',
  'GET /certificates/:id/history': 'member',
  'GET /dns-providers/:id/history': 'sensitive',
  'GET /access-lists/:id/history': 'member',
  'GET /security/rulesets/:id/history': 'member',
  'GET /security/decisions/:id/history': 'member',
  'GET /security/config/history': 'member',
  'GET /settings/history': 'administrator',
  'GET /settings/:key/history': 'administrator',
  'GET /proxy-hosts': 'member',
  'GET /proxy-hosts/summary': 'member',
  'POST /proxy-hosts': 'member',
  'GET /proxy-hosts/:uuid': 'member',
  'PUT /proxy-hosts/:uuid': 'member',
  'DELETE /proxy-hosts/:uuid': 'member',
  'POST /proxy-hosts/bulk': 'member',
  'POST /proxy-hosts/test-origin': 'member',
  'POST /proxy-hosts/bulk-delete': 'member',
  'GET /remote-servers': 'member',
  'POST /remote-servers': 'sensitive',
  'GET /remote-servers/:uuid': 'member',
  'PUT /remote-servers/:uuid': 'sensitive',
  'DELETE /remote-servers/:uuid': 'sensitive',
  'POST /remote-servers/:uuid/test': 'sensitive',
  'GET /containers': 'administrator',
  'GET /certificates': 'member',
  'GET /certificates/internal-ca': 'member',
  'GET /certificates/internal-ca/root.pem': 'member',
  'GET /certificates/internal-ca/next-root.pem': 'member',
  'POST /certificates/internal-ca/next': 'sensitive',
  'POST /certificates/internal-ca/drop-next': 'sensitive',
  'POST /certificates/internal-ca/take-over': 'sensitive',
  'GET /certificates/:id': 'member',
  'POST /certificates/upload': 'sensitive',
  'POST /certificates/import': 'sensitive',
  'PUT /certificates/:id': 'sensitive',
  'DELETE /certificates/:id': 'sensitive',
  'POST /certificates/order': 'sensitive',
  'POST /certificates/preflight': 'sensitive',
  'POST /certificates/:id/renew': 'sensitive',
  'POST /certificates/:id/revoke': 'sensitive',
  'GET /acme/accounts': 'member',
  'POST /acme/accounts': 'sensitive',
  'GET /acme/accounts/:id': 'member',
  'PUT /acme/accounts/:id': 'sensitive',
  'DELETE /acme/accounts/:id': 'sensitive',
  'GET /dns-providers': 'sensitive',
  'GET /dns-providers/types': 'sensitive',
  'POST /dns-providers': 'sensitive',
  'GET /dns-providers/:id': 'sensitive',
  'PUT /dns-providers/:id': 'sensitive',
  'DELETE /dns-providers/:id': 'sensitive',
  'POST /dns-providers/:id/test': 'sensitive',
  'GET /certificates/:id/download': 'member',
  'POST /certificates/:id/download': 'granting',
  'GET /access-lists': 'member',
  'POST /access-lists': 'sensitive',
  'GET /access-lists/:id': 'member',
  'PUT /access-lists/:id': 'sensitive',
  'DELETE /access-lists/:id': 'sensitive',
  'POST /access-lists/test': 'member',
  'POST /access-lists/:id/test': 'member',
  'GET /security/status': 'member',
  'GET /security/config': 'member',
  'POST /security/config': 'sensitive',
  'POST /security/exclusions': 'sensitive',
  'POST /security/enable': 'sensitive',
  'POST /security/disable': 'public',
  'POST /security/breakglass/generate': 'sensitive',
  'GET /security/decisions': 'member',
  'GET /security/decisions/:id': 'member',
  'POST /security/decisions': 'sensitive',
  'DELETE /security/decisions/:id': 'sensitive',
  'GET /security/rulesets': 'member',
  'GET /security/rulesets/:id': 'member',
  'POST /security/rulesets': 'sensitive',
  'POST /security/rulesets/check': 'sensitive',
  'DELETE /security/rulesets/:id': 'sensitive',
  'GET /security/blocks': 'administrator',
  'GET /security/blocks/summary': 'administrator',
  'GET /security/blocks/:reference': 'administrator',
  'GET /security/notifications/settings': 'member',
  'PUT /security/notifications/settings': 'sensitive',
  'POST /security/notifications/test': 'sensitive',
  'GET /security/notifications/deliveries': 'sensitive',
  'GET /logs/live': 'member',
  'POST /admin/crowdsec/start': 'sensitive',
  'POST /admin/crowdsec/stop': 'sensitive',
  'GET /admin/crowdsec/status': 'member',
  'GET /admin/crowdsec/presets': 'member',
  'POST /admin/crowdsec/presets/:author/:name/apply': 'administrator',
  'DELETE /admin/crowdsec/presets/:author/:name': 'administrator',
  'GET /admin/crowdsec/console': 'administrator',
  'POST /admin/crowdsec/console': 'administrator',
  'DELETE /admin/crowdsec/console': 'administrator',
};

/** What a caller gets before the route is reached; `through` when it is reached, whatever it then answers. */
type Outcome = 401 | 403 | 'through';

const CALLERS = [
  'nobody, remote',
  'nobody, local',
  'standard user',
  'administrator',
  'expired session',
  'revoked session',
  'disabled user',
  'API token of a standard user',
  'API token of an administrator',
  'revoked API token',
  'expired API token',
] as const;
type CallerName = (typeof CALLERS)[number];
type Mode = 'local' | 'required' | 'open';

const isVoid = (caller: CallerName) => /expired|revoked|disabled/.test(caller);
const isAdministrator = (caller: CallerName) => caller.includes('administrator');

const expected = (policy: Policy, caller: CallerName, mode: Mode): Outcome => {
  if (policy === 'public') return 'through';
  if (isVoid(caller)) return 401;
  const isNobody = caller.startsWith('nobody');
  switch (policy) {
    case 'account':
      return isNobody ? 401 : 'through';
    case 'member':
      if (!isNobody || mode === 'open') return 'through';
      return mode === 'local' && caller === 'nobody, local' ? 'through' : 401;
    case 'sensitive':
      if (isAdministrator(caller)) return 'through';
      if (!isNobody) return 403;
      return mode === 'open' || (mode === 'local' && caller === 'nobody, local') ? 'through' : 401;
    case 'administrator':
      return isAdministrator(caller) ? 'through' : 403;
    case 'granting':
      return caller === 'administrator' ? 'through' : 403;
    default:
      return policy satisfies never;
  }
};

/** The words only the policy hook uses; a route's own 401 or 403 has others. */
const HOOK_REFUSALS = [
  'Authentication required',
  'Admin access required',
  'The session or token is not valid or has ended',
  'An API token can not grant rights that outlive it; sign in instead',
];

describe.each<Mode>(['local', 'required', 'open'])('in mode %s', (mode) => {
  let app: TestApp;
  let callers: Record<CallerName, Record<string, string>>;
  let routes: string[];
  let now = Date.now();

  beforeAll(async () => {
    const env = { SALLYPORT_API_AUTH: mode, SALLYPORT_CROWDSEC_PORT: String(await freePort()) };
    app = await startApp('sqlite', env, { clock: () => new Date(now) });
    routes = app
      .routePolicies()
      .map((line) => line.split(' ').slice(0, 2).join(' ').replace('/api/v1', ''))
      // The documentation and the web interface are files for everybody.
      .filter((route) => !/^HEAD |^GET \/$| \/(?:api\/docs|assets\/)/.test(route));
    const given = createGiven(app);
    const admin = await given.administrator();
    const [user, revoked, disabled] = [await given.caller(), await given.caller(), await given.caller()];
    await app.send('POST', '/auth/logout', undefined, revoked.headers);
    await app.send('PUT', `/users/${disabled.user.id}`, { status: 'disabled' }, admin.headers);
    const expired = await given.caller('admin');
    const expires_at = new Date(now + 60_000).toISOString();
    const expiredToken = await given.apiToken(admin, 'admin', { expires_at });
    const revokedToken = await given.apiToken(admin, 'admin');
    await app.send('DELETE', `/tokens/${revokedToken.id}`, undefined, admin.headers);
    const userToken = await given.apiToken(admin, 'user');
    const adminToken = await given.apiToken(admin, 'admin');
    now += 25 * 3_600_000;
    const again = async ({ user: { email } }: Caller) => (await given.signIn(email)).headers;
    callers = {
      'nobody, remote': fromOutside(),
      'nobody, local': {},
      'standard user': await again(user),
      administrator: await again(admin),
      'expired session': expired.headers,
      'revoked session': revoked.headers,
      'disabled user': disabled.headers,
      'API token of a standard user': bearer(userToken.token),
      'API token of an administrator': bearer(adminToken.token),
      'revoked API token': bearer(revokedToken.token),
      'expired API token': bearer(expiredToken.token),
    };
  });
  afterAll(() => app.stop());

  const outcomeOf = async (route: string, headers: Record<string, string>): Promise<Outcome> => {
    const [method = '', path = ''] = route.split(' ');
    // Ids that name nothing, and no body: what is let through answers 400 or 404 and changes nothing.
    const target = path.replaceAll(/:\w+/g, '999999999');
    const response = await fetch(`${app.url}${target.startsWith('/api') ? target : `/api/v1${target}`}`, {
      method,
      headers,
      signal: AbortSignal.timeout(60_000),
    });
    const text = await response.text();
    // Without a token of the deployment there is no emergency reset, whoever asks.
    if (route === 'POST /emergency/security-reset') expect(response.status).toBe(501);
    // Where CrowdSec is not installed it can't be started and has no presets, and without Docker there is no list, whoever asks.
    else if (/ \/(?:admin\/crowdsec\/(?:start|presets)|containers)/.test(route))
      expect([200, 401, 403, 503]).toContain(response.status);
    else expect(response.status, `${route}: ${text}`).toBeLessThan(500);
    expect(response.headers.get('cache-control'), route).toBe('no-store');
    // The API document shows these words in its examples.
    const isRefused = !response.ok && HOOK_REFUSALS.some((words) => text.includes(`"error":"${words}"`));
    if (!isRefused) return 'through';
    return response.status as Outcome;
  };

  test('every route has a line in the table, and every line a route', () => {
    expect(routes.length).toBeGreaterThan(40);
    // Metrics are there twice: below the API root and where scrapers look.
    expect([...new Set(routes)].sort()).toEqual(Object.keys(ROUTES).sort());
  });

  test.each(CALLERS)('%s gets what the table says', async (caller) => {
    const differences: string[] = [];
    for (const route of routes) {
      // Would end the session that the following routes are called with.
      if (route === 'POST /auth/logout' && !isVoid(caller) && !caller.startsWith('nobody')) continue;
      const policy = ROUTES[route];
      if (!policy) continue;
      const wanted = expected(policy, caller, mode);
      const outcome = await outcomeOf(route, callers[caller]);
      if (outcome !== wanted) differences.push(`${route} (${policy}): ${outcome} instead of ${wanted}`);
    }
    expect(differences).toEqual([]);
  });

  test('an ended credential keeps nobody from administration by being taken for none', async () => {
    for (const caller of CALLERS.filter(isVoid)) {
      const { status } = await app.send('GET', '/users', undefined, callers[caller]);
      expect(status, caller).toBe(401);
    }
  });
});
