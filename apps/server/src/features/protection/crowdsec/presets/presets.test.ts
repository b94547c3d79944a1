import { appendFileSync, cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditEntry, Backup, CrowdsecPreset, ErrorBody } from '@sallyport/contract';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../../test/support/temporary-directory.ts';
import { until } from '../../../../../../../test/support/until.ts';
import {
  bannedBy,
  crowdsecStatus,
  isReading,
  MISSING,
  missed,
  runCrowdsec,
  startWithCrowdsec,
  WITHIN_MS,
} from '../../../../testing/crowdsec.ts';
import { createGiven } from '../../../../testing/given-accounts.ts';
import { startApp, type TestApp } from '../../../../testing/start-app.ts';
import { DEBIAN } from '../program.ts';

/** Presets of Debian's offline hub, with the real CrowdSec. */

const PROBING = 'crowdsecurity/http-probing';
const WORDPRESS = 'crowdsecurity/wordpress';
const OF_WORDPRESS = ['bf-wordpress_bf', 'wordpress_wpconfig', 'wordpress_user-enum'].map(
  (name) => `crowdsecurity/http-${name}`,
);
/** Lists of what http-sensitive-files knows. */
const SENSITIVE = [
  '/.git/config',
  '/.env',
  '/.aws/credentials',
  '/.ssh/id_rsa',
  '/.htpasswd',
  '/.svn/entries',
  '/web.config',
];

const pathOf = (name: string): string => `/admin/crowdsec/presets/${name}`;

const given = async (app: TestApp) => {
  const accounts = createGiven(app);
  const { headers } = await accounts.administrator();
  const presets = async (): Promise<Map<string, CrowdsecPreset>> => {
    const { status, body } = await app.send<{ presets: CrowdsecPreset[] }>(
      'GET',
      '/admin/crowdsec/presets',
      undefined,
      headers,
    );
    expect(status).toBe(200);
    return new Map(body.presets.map((preset) => [preset.name, preset]));
  };
  return {
    accounts,
    headers,
    presets,
    apply: (name: string) => app.send<CrowdsecPreset & ErrorBody>('POST', `${pathOf(name)}/apply`, undefined, headers),
    takeBack: (name: string) => app.send<CrowdsecPreset & ErrorBody>('DELETE', pathOf(name), undefined, headers),
    audit: async (): Promise<string[]> => {
      const { body } = await app.send<AuditEntry[]>('GET', '/audit-logs', undefined, headers);
      return body
        .filter(({ action }) => /crowdsec.*preset/.test(action))
        .map(({ action, resource }) => `${action} ${resource}`);
    },
  };
};

test.concurrent('a preset that is taken back judges nobody, and one that is applied again does', {
  timeout: 240_000,
}, async (context) => {
  const app = await startWithCrowdsec(context);
  const { presets, apply, takeBack } = await given(app);
  const log = join(app.dataDir, 'crowdsec/log/access.log');
  const { pid, scenarios } = await runCrowdsec(app);
  expect(scenarios).toEqual(expect.arrayContaining([PROBING, ...OF_WORDPRESS]));

  expect(await takeBack(PROBING)).toMatchObject({ status: 200, body: { name: PROBING, applied: false } });
  const without = await isReading(app);
  expect(without).toMatchObject({ pid, issue: null });
  expect(scenarios.filter((name) => !without.scenarios.includes(name))).toEqual([PROBING]);
  const known = await presets();
  expect(known.get(PROBING)).toMatchObject({ kind: 'scenario', usable: true, applied: false });
  expect(known.get('crowdsecurity/base-http-scenarios')).toMatchObject({ kind: 'collection', applied: false });
  expect(known.get(WORDPRESS)).toMatchObject({ applied: true });
  appendFileSync(log, missed('203.0.113.1', MISSING));
  appendFileSync(log, missed('203.0.113.2', SENSITIVE));
  await until('another scenario bans', async () => (await bannedBy(app)).length > 0, WITHIN_MS);
  expect(await bannedBy(app)).toEqual(['203.0.113.2']);

  // Of what was said about one scenario, the last word counts; and changes may follow each other at once.
  expect((await takeBack(WORDPRESS)).body.scenarios.map(({ applied }) => applied)).toEqual([false, false, false]);
  expect((await apply('crowdsecurity/base-http-scenarios')).body).toMatchObject({ applied: true });
  await until(
    'both are followed',
    async () => {
      const { scenarios: now } = await crowdsecStatus(app);
      return now.includes(PROBING) && !OF_WORDPRESS.some((name) => now.includes(name));
    },
    WITHIN_MS,
  );
  expect(await isReading(app)).toMatchObject({ pid, issue: null });
  appendFileSync(log, missed('203.0.113.3', MISSING));
  await until('the scan is banned', async () => (await bannedBy(app)).includes('203.0.113.3'), WITHIN_MS);

  // Another process, with its files copied anew, knows as well.
  await app.send('POST', '/admin/crowdsec/stop');
  await app.restart();
  const after = await runCrowdsec(app);
  expect(scenarios.filter((name) => !after.scenarios.includes(name)).sort()).toEqual([...OF_WORDPRESS].sort());
});

test.concurrent('changes are made once and audited, by administrators, and only of what the hub has', async (context) => {
  const app = await startWithCrowdsec(context);
  const { accounts, presets, apply, takeBack, audit } = await given(app);
  const { headers } = await accounts.caller('user');
  for (const [method, path] of [
    ['POST', `${pathOf(WORDPRESS)}/apply`],
    ['DELETE', pathOf(WORDPRESS)],
  ] as const) {
    expect((await app.send(method, path, undefined, headers)).status).toBe(403);
    expect((await app.send(method, path)).status).toBe(403);
  }
  expect((await app.send('GET', '/admin/crowdsec/presets', undefined, headers)).status).toBe(200);
  // It is applied already.
  expect(await apply(WORDPRESS)).toMatchObject({ status: 200, body: { applied: true } });
  expect(await audit()).toEqual([]);
  for (let time = 0; time < 2; time += 1) expect((await takeBack(WORDPRESS)).status).toBe(200);
  for (let time = 0; time < 2; time += 1) expect((await apply(WORDPRESS)).status).toBe(200);
  const resource = `admin/crowdsec/presets/${WORDPRESS}`;
  expect(await audit()).toEqual([`crowdsec.apply_preset ${resource}`, `crowdsec.take_back_preset ${resource}`]);

  for (const name of [
    'crowdsecurity/nothing',
    '..%2F..%2Fetc/passwd',
    '--help/x',
    'crowdsecurity/http-probing%00',
    '__proto__/x',
  ]) {
    expect((await apply(name)).status, name).toBe(404);
    expect((await takeBack(name)).status, name).toBe(404);
  }
  expect((await presets()).get('crowdsecurity/sshd')).toMatchObject({ usable: false, applied: false });
  const { status, body } = await apply('crowdsecurity/sshd');
  expect(status).toBe(422);
  expect(body.error).toContain('crowdsecurity/sshd judges nothing that clients ask of a web server');
});

test.concurrent('a scenario that CrowdSec can not load is left out and told, and so is one that is applied', async (context) => {
  await withTemporaryDirectory(async (hub) => {
    cpSync(DEBIAN.hub, hub, { recursive: true });
    const broken = join(hub, 'scenarios/crowdsecurity/http-wordpress_wpconfig.yaml');
    writeFileSync(
      broken,
      'type: trigger\nname: x/y\nfilter: "evt.Meta.log_type == \'http_access-log\' &&"\nlabels: {service: http}\n',
    );
    const app = await startWithCrowdsec(context, { ...DEBIAN, hub });
    const { presets, apply, takeBack, audit } = await given(app);
    const { scenarios } = await runCrowdsec(app);
    expect(scenarios).toContain('crowdsecurity/http-bf-wordpress_bf');
    expect(scenarios).not.toContain('crowdsecurity/http-wordpress_wpconfig');
    const told = (await presets()).get(WORDPRESS)?.scenarios.find(({ name }) => name.endsWith('wpconfig'));
    expect(told).toMatchObject({ applied: true, issue: expect.stringContaining('invalid filter') });

    expect((await takeBack(WORDPRESS)).status).toBe(200);
    const refused = await apply(WORDPRESS);
    expect(refused.status).toBe(422);
    expect(refused.body.error).toMatch(/CrowdSec refuses crowdsecurity\/wordpress: .*invalid filter/);
    expect((await presets()).get(WORDPRESS)).toMatchObject({ applied: false });
    expect(await audit()).toHaveLength(1);
    expect(await isReading(app)).toMatchObject({ status: 'running', issue: null });

    cpSync(join(DEBIAN.hub, 'scenarios/crowdsecurity/http-wordpress_wpconfig.yaml'), broken);
    expect(await apply(WORDPRESS)).toMatchObject({ status: 200, body: { applied: true } });
    expect((await crowdsecStatus(app)).scenarios).toContain('crowdsecurity/http-wordpress_wpconfig');
  });
});

test.concurrent('a backup brings back what was applied when it was made', async (context) => {
  const app = await startWithCrowdsec(context);
  const { headers, presets, apply, takeBack } = await given(app);
  await runCrowdsec(app);
  await takeBack(WORDPRESS);
  const { body } = await app.send<Backup>('POST', '/backups', {}, headers);
  await apply(WORDPRESS);
  await isReading(app);
  const restored = await app.send('POST', `/backups/${body.name}/restore`, {}, headers);
  expect(restored.status, JSON.stringify(restored.body)).toBe(200);
  expect((await presets()).get(WORDPRESS)).toMatchObject({ applied: false });
  await until(
    'it is followed',
    async () => !(await crowdsecStatus(app)).scenarios.includes(OF_WORDPRESS[0] ?? ''),
    WITHIN_MS,
  );
});

test.concurrent('there are none where CrowdSec is not installed', async () => {
  const app = await startApp('sqlite');
  try {
    const { headers, apply, takeBack } = await given(app);
    const listed = await app.send<ErrorBody>('GET', '/admin/crowdsec/presets', undefined, headers);
    expect(listed.status).toBe(503);
    expect(listed.body.error).toContain('bin/up --with=crowdsec');
    expect((await apply(WORDPRESS)).status).toBe(503);
    expect((await takeBack(WORDPRESS)).status).toBe(503);
  } finally {
    await app.stop();
  }
});
