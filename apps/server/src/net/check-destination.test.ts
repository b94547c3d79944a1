import { expect, test } from 'vitest';
import { createDestinationCheck } from './check-destination.ts';

const addresses: Record<string, string[]> = {
  'public.example': ['1.1.1.1', '2606:4700:4700::1111'],
  'inside.example': ['10.0.0.1'],
  'mixed.example': ['1.1.1.1', '::1'],
};

const check = createDestinationCheck({
  lookup: async (name) => {
    const found = addresses[name];
    if (!found) throw new Error('ENOTFOUND');
    return found;
  },
});

test.each([
  'https://public.example/hook',
  'https://public.example:8443/hook?x=1',
  'https://1.1.1.1/',
  'https://[2606:4700:4700::1111]/',
  // What it leads to is looked at when it is called.
  'https://not-yet.example/',
])('%s may be stored', async (url) => {
  expect(await check(url)).toBeUndefined();
});

test.each([
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://169.254.169.254./',
  'https://localhost/',
  'https://metadata.google.internal./',
  'https://inside.example/',
  'https://mixed.example/',
])('%s is no public destination', async (url) => {
  await expect(check(url)).rejects.toMatchObject({ name: 'SafeFetchError', reason: 'blocked' });
});

test.each([
  ['', /^invalid URL format$/],
  ['public.example', /^invalid URL format$/],
  ['https://user@public.example/', /^invalid URL format$/],
  ['https://:word@public.example/', /^invalid URL format$/],
  ['http://public.example/', /^only https/],
  ['ftp://public.example/', /^only https/],
])('"%s" is not what is stored', async (url, message) => {
  await expect(check(url)).rejects.toMatchObject({
    reason: 'invalid_url',
    message: expect.stringMatching(message as RegExp),
  });
});

test('a policy of its own is asked for the port that would be connected to', async () => {
  const asked: [string, number][] = [];
  const addressPolicy = {
    isBlockedAddress: (address: string, port: number) => asked.push([address, port]) < 0,
    isBlockedName: () => false,
  };
  const noting = createDestinationCheck({ lookup: async () => ['10.0.0.1'], addressPolicy });
  for (const url of ['https://a.example/', 'https://a.example:8443/', 'https://192.0.2.1:444/']) await noting(url);
  expect(asked).toEqual([
    ['10.0.0.1', 443],
    ['10.0.0.1', 8443],
    ['192.0.2.1', 444],
  ]);
});
