import { expect, test } from 'vitest';
import { administratorsAddress } from './administrators-address.ts';

const lookup = async (name: string): Promise<string[]> => {
  if (name === 'nas.example') return ['192.168.1.9', 'fd00::9'];
  if (name === 'rebound.example') return ['192.168.1.9', '169.254.169.254'];
  if (name === 'metadata.google.internal') return ['192.0.2.1'];
  throw new Error('ENOTFOUND');
};

test('an administrator may name a private address, or a name that leads to one', async () => {
  expect(await administratorsAddress('192.168.1.9', lookup)).toBe('192.168.1.9');
  expect(await administratorsAddress('fd00::9', lookup)).toBe('fd00::9');
  expect(await administratorsAddress('nas.example', lookup)).toBe('192.168.1.9');
  expect(await administratorsAddress('127.0.0.1')).toBe('127.0.0.1');
});

test.each(['169.254.169.254', '::ffff:169.254.169.254', 'fd20:ce::254', 'metadata.google.internal', 'rebound.example'])(
  'nobody may name %s, which hands out credentials, or leads to what does',
  async (host) => {
    const message = `${host} is a link-local or metadata address, which is refused`;
    await expect(administratorsAddress(host, lookup)).rejects.toMatchObject({ message });
  },
);

test('a name that leads nowhere is told', async () => {
  await expect(administratorsAddress('gone.example', lookup)).rejects.toThrow(/^gone\.example does not resolve$/);
  await expect(administratorsAddress('empty.example', async () => [])).rejects.toThrow('does not resolve');
});
