import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts } from '../../../test/support/free-ports.ts';
import { chooseAddresses, configuredAddresses } from './proxy-listeners.ts';

const given = async () => {
  const [http = 0, https = 0] = await freePorts(2);
  return { proxyHttp: { host: '127.0.0.1', port: http }, proxyHttps: { host: '::1', port: https } };
};

test('takes what is configured, each for its own, and says nothing about it', async () => {
  const config = await given();
  const addresses = { http: `127.0.0.1:${config.proxyHttp.port}`, https: `[::1]:${config.proxyHttps.port}` };
  expect(await chooseAddresses(config)).toEqual({ addresses, notices: [] });
  expect(configuredAddresses(config)).toEqual(addresses);
});

test('tells only what is configured, so that the rest is found again as it was', async () => {
  const { proxyHttp, proxyHttps } = await given();
  expect(configuredAddresses({ proxyHttp, proxyHttps: undefined })).toEqual({ http: `127.0.0.1:${proxyHttp.port}` });
  expect(configuredAddresses({ proxyHttp: undefined, proxyHttps })).toEqual({ https: `[::1]:${proxyHttps.port}` });
  expect(configuredAddresses({ proxyHttp: undefined, proxyHttps: undefined })).toEqual({});
});

test('two listeners can not share an address', async () => {
  const { proxyHttp } = await given();
  await expect(chooseAddresses({ proxyHttp, proxyHttps: proxyHttp })).rejects.toThrow(
    'SALLYPORT_PROXY_HTTPS is the same as SALLYPORT_PROXY_HTTP',
  );
});

test.each(['proxyHttp', 'proxyHttps'] as const)('what is taken is named by its setting: %s', async (setting) => {
  const config = await given();
  const { host, port } = config[setting];
  const server = createServer().listen(port, host);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const variable = setting === 'proxyHttp' ? 'SALLYPORT_PROXY_HTTP' : 'SALLYPORT_PROXY_HTTPS';
  await expect(chooseAddresses(config)).rejects.toThrow(`${variable}: ${host}:${port} can't be bound`);
});
