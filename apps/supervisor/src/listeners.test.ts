import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePort, freePorts } from '../../../test/support/free-ports.ts';
import { chooseListener, explainBindError, whyNotBindable } from './listeners.ts';

const listenOn = async (host: string, port = 0) => {
  const server = createServer().listen(port, host);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP listener');
  return address.port;
};

const listener = { variable: 'SALLYPORT_PROXY_HTTP', configured: undefined } as const;

test('finds an address free, and leaves it free', async () => {
  const port = await freePort();
  expect(await whyNotBindable({ host: '127.0.0.1', port })).toBeUndefined();
  expect(await listenOn('127.0.0.1', port)).toBe(port);
});

test('finds an address taken, also when it is only one of all addresses', async () => {
  const port = await listenOn('127.0.0.1');
  expect(await whyNotBindable({ host: '127.0.0.1', port })).toBe('EADDRINUSE');
  expect(await whyNotBindable({ host: '', port })).toBe('EADDRINUSE');
});

test('an address that this machine does not have is said to be none of its own', async () => {
  const code = await whyNotBindable({ host: '192.0.2.1', port: await freePort() });
  expect(code).toBe('EADDRNOTAVAIL');
  expect(explainBindError(code ?? '')).toBe('this machine has no such address');
  // What nobody has thought of is better named than hidden.
  expect(explainBindError('ENOBUFS')).toBe('ENOBUFS');
});

test('takes the standard port when it can', async () => {
  const [standardPort = 0, fallbackPort = 0] = await freePorts(2);
  const choice = await chooseListener({ ...listener, standardPort, fallbackPort });
  expect(choice).toEqual({ listen: { host: '', port: standardPort }, notice: undefined });
});

test('falls back when the standard port is taken, and says so and how to change it', async () => {
  const standardPort = await listenOn('127.0.0.1');
  const fallbackPort = await freePort();
  const choice = await chooseListener({ ...listener, standardPort, fallbackPort });
  expect(choice.listen).toEqual({ host: '', port: fallbackPort });
  expect(choice.notice).toBe(
    `:${standardPort} can't be bound (another program listens there), so :${fallbackPort} is used; set SALLYPORT_PROXY_HTTP to choose another`,
  );
});

test('never falls back from a configured address', async () => {
  const port = await listenOn('127.0.0.1');
  const configured = { host: '127.0.0.1', port };
  const [standardPort = 0, fallbackPort = 0] = await freePorts(2);
  await expect(chooseListener({ ...listener, configured, standardPort, fallbackPort })).rejects.toThrow(
    `SALLYPORT_PROXY_HTTP: 127.0.0.1:${port} can't be bound (another program listens there)`,
  );
});

test('gives up when the fallback is taken too', async () => {
  const taken = await listenOn('127.0.0.1');
  const both = { ...listener, standardPort: taken, fallbackPort: taken };
  await expect(chooseListener(both)).rejects.toThrow(
    `:${taken} can't be bound (another program listens there), nor can :${taken} (another program listens there): set SALLYPORT_PROXY_HTTP to a free address`,
  );
});
