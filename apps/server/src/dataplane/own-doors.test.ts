import { parseConfig } from '@sallyport/deployment/config';
import { expect, test } from 'vitest';
import { ownDoors } from './own-doors.ts';

const doors = (env: Record<string, string>) => ownDoors(parseConfig({ SALLYPORT_DATA_DIR: '/tmp', ...env }, '/'));

test('the proxy is reached where it listens', () => {
  expect(doors({})).toEqual({
    http: { address: '127.0.0.1', port: 80, isTls: false },
    https: { address: '127.0.0.1', port: 443, isTls: true },
  });
  expect(doors({ SALLYPORT_PROXY_HTTPS: '192.0.2.1:8443' }).https).toMatchObject({ address: '192.0.2.1', port: 8443 });
});

test('with the header of the PROXY protocol where it is awaited of this machine', () => {
  const env = { SALLYPORT_PROXY_PROTOCOL: 'true', SALLYPORT_PROXY_HTTPS: '192.0.2.1:443' };
  const { http, https } = doors({ ...env, SALLYPORT_TRUSTED_PROXIES: '127.0.0.0/8' });
  expect(http.preface).toBe('PROXY UNKNOWN\r\n');
  expect(https.preface).toBeUndefined();
  expect(doors({ SALLYPORT_TRUSTED_PROXIES: '127.0.0.0/8' }).http.preface).toBeUndefined();
});
