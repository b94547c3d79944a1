import type { CrowdsecStart, CrowdsecStatus, Decision } from '@sallyport/contract';
import { expect, type TestContext } from 'vitest';
import { freePort } from '../../../../test/support/free-ports.ts';
import { until } from '../../../../test/support/until.ts';
import { type CrowdsecProgram, DEBIAN } from '../features/protection/crowdsec/program.ts';
import { startApp, type TestApp, type TestOptions } from './start-app.ts';

/** A machine that runs other tests as well takes its time. */
export const WITHIN_MS = 60_000;

/** A service that may run the real CrowdSec of Debian; it ends with the test, which may run beside others. */
export const startWithCrowdsec = async (
  { onTestFinished }: Pick<TestContext, 'onTestFinished'>,
  program: CrowdsecProgram = DEBIAN,
  options: TestOptions = {},
): Promise<TestApp> => {
  const env = { SALLYPORT_CROWDSEC_PORT: String(await freePort()) };
  const app = await startApp('sqlite', env, { ...options, crowdsec: program });
  onTestFinished(() => app.stop());
  return app;
};

export const crowdsecStatus = async (app: TestApp): Promise<CrowdsecStatus> =>
  (await app.send<CrowdsecStatus>('GET', '/admin/crowdsec/status')).body;

export const isReading = (app: TestApp): Promise<CrowdsecStatus> =>
  until(
    'it reads',
    async () => {
      const status = await crowdsecStatus(app);
      return status.acquisition.length > 0 && status.last_sync !== null ? status : undefined;
    },
    WITHIN_MS,
  );

/** Starts it, and resolves when its scenarios are loaded. */
export const runCrowdsec = async (app: TestApp): Promise<CrowdsecStatus> => {
  const { status, body } = await app.send<CrowdsecStart>('POST', '/admin/crowdsec/start');
  expect(status, JSON.stringify(body)).toBe(200);
  return isReading(app);
};

/** Networks that CrowdSec has banned, as far as it is known here. */
export const bannedBy = async (app: TestApp): Promise<string[]> => {
  const { body } = await app.send<{ decisions: Decision[] }>(
    'GET',
    '/security/decisions?source=crowdsec&per_page=1000',
  );
  return body.decisions.map(({ ip }) => ip).sort();
};

/** Lines of a web server's log: what this client asked for, and that it was not found. */
export const missed = (ip: string, paths: readonly string[]): string => {
  const time = new Date().toUTCString().replace(/^\w+, (\d+) (\w+) (\d+) (\S+) .*/, '$1/$2/$3:$4 +0000');
  return paths
    .map((path) => `example.org ${ip} - - [${time}] "GET ${path} HTTP/1.1" 404 0 "-" "Mozilla/5.0"\n`)
    .join('');
};

/** Pages that are nowhere; who asks for so many is banned by crowdsecurity/http-probing. */
export const MISSING = Array.from({ length: 15 }, (_, index) => `/missing-${index}.php`);
