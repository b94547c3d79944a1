import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@sallyport/deployment/config';
import { proxyDirectory, spoeFile, trafficSocket } from '@sallyport/deployment/places';
import { proxyConfinement } from '@sallyport/deployment/proxy-account';
import { writeStaticFiles } from '@sallyport/haproxy';
import { afterAll, expect, test } from 'vitest';
import { keepTellingTraffic } from './protection/traffic.ts';
import { haproxyProgram, ownListeners, toProxySettings } from './proxy-settings.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-deployment-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test.each([
  ['', '500ms'],
  ['250ms', '125ms'],
  ['60s', '30000ms'],
])(
  'with SALLYPORT_GUARD_TIMEOUT=%s HAProxy waits %s, half of it, for the verdict of one guard',
  async (setting, expected) => {
    const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir, SALLYPORT_GUARD_TIMEOUT: setting }, '/');
    await writeStaticFiles(proxyDirectory(dataDir), toProxySettings(config));
    expect(readFileSync(spoeFile(dataDir), 'utf8')).toContain(`timeout processing ${expected}\n`);
  },
);

test('HAProxy listens where it is told to, on every address by default, and believes a load balancer only when told to', () => {
  const settingsOf = (env: Record<string, string>) => {
    const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir, ...env }, '/');
    return { ...toProxySettings(config), own: ownListeners(config) };
  };
  const plain = settingsOf({});
  expect(plain).toMatchObject({ proxyProtocol: false, publicHttpsPort: 443 });
  expect(plain.http).toContainEqual({ address: '0.0.0.0', port: 80 });
  expect(plain.https).toContainEqual({ address: '0.0.0.0', port: 443 });
  const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ family }) => family === 'IPv6'));
  expect(plain.http.some(({ address }) => address === '::')).toBe(hasIpv6);
  const behind = settingsOf({
    SALLYPORT_PROXY_PROTOCOL: 'true',
    SALLYPORT_PROXY_HTTPS: '127.0.0.1:8443',
    SALLYPORT_EMERGENCY_BIND: '127.0.0.1:2020',
    SALLYPORT_EMERGENCY_TOKEN: 'e'.repeat(64),
  });
  expect(behind).toMatchObject({ proxyProtocol: true, publicHttpsPort: 8443 });
  expect(behind.https).toEqual([{ address: '127.0.0.1', port: 8443 }]);
  expect(behind.own.map(({ port }) => port)).toEqual([plain.own[0]?.port, 80, 8443, 2020]);
});

test('HAProxy is confined to what it needs wherever it can be, and is the one that this machine has', () => {
  const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/');
  expect(toProxySettings(config).confinement).toEqual(proxyConfinement(dataDir));
  expect(execFileSync(haproxyProgram(), ['-v'], { encoding: 'utf8' })).toContain('HAProxy version');
});

test('HAProxy tells of every request only where somebody wants to know', async () => {
  const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir }, '/');
  expect(toProxySettings(config).trafficSocket).toBeNull();
  await keepTellingTraffic(dataDir, true);
  expect(toProxySettings(config).trafficSocket).toBe(trafficSocket(dataDir));
  await keepTellingTraffic(dataDir, false);
  expect(toProxySettings(config).trafficSocket).toBeNull();
});
