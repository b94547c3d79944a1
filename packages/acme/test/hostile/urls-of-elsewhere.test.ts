import { describe, expect, test } from 'vitest';
import { AcmeProtocolError } from '../../src/index.ts';
import { failure } from '../failure.ts';
import { CA, DIRECTORY, pendingAuthorization, pendingOrder, scriptedCa } from '../scripted-ca.ts';

describe('URLs of elsewhere', () => {
  const elsewhere = [
    'https://other.example/nonce',
    'https://ca.example/nonce',
    'http://ca.example:14000/nonce',
    'https://ca.example:14000@evil.example/nonce',
    'https://user:secret@ca.example:14000/nonce',
    'file:///etc/passwd',
    ' https://ca.example:14000/nonce',
    'https:\\\\ca.example:14000\\nonce',
    'https://ca.example:14000/nonce\r\nhost: evil',
    '//ca.example:14000/nonce',
    '/nonce',
    17,
    null,
  ];
  test.for(elsewhere)('in a directory: %s', async (url) => {
    const ca = scriptedCa({ '/dir': { body: { ...DIRECTORY, newNonce: url } } });
    const error = await failure(ca.client().directory());
    expect(error).toBeInstanceOf(AcmeProtocolError);
    expect((error as Error).message).toContain('newNonce');
    expect(ca.asked).toHaveLength(1);
  });

  test.for(['renewalInfo', 'revokeCert'])('in what a directory need not have: %s', async (name) => {
    const directory = { ...DIRECTORY, [name]: 'https://127.0.0.1/' };
    expect(
      await failure(
        scriptedCa({ '/dir': { body: directory } })
          .client()
          .directory(),
      ),
    ).toBeInstanceOf(AcmeProtocolError);
  });

  test.for([
    ['account', { '/account': { status: 201, headers: { location: 'https://10.0.0.1/' }, body: {} } }],
    ['no account', { '/account': { status: 201, body: {} } }],
    ['order', { '/orders': { status: 201, headers: { location: 'https://10.0.0.1/' }, body: pendingOrder } }],
    ['no order', { '/orders': { status: 201, body: pendingOrder } }],
    ['authorization', { '/order': { body: { ...pendingOrder, authorizations: ['https://10.0.0.1/'] } } }],
    ['finalize', { '/order': { body: { ...pendingOrder, finalize: 'https://10.0.0.1/' } } }],
    ['certificate', { '/order': { body: { ...pendingOrder, status: 'valid', certificate: 'https://10.0.0.1/' } } }],
    ['no certificate', { '/order': { body: { ...pendingOrder, status: 'valid' } } }],
    [
      'challenge',
      {
        '/authorization': {
          body: {
            ...pendingAuthorization,
            challenges: [{ ...pendingAuthorization.challenges[0], url: 'https://10.0.0.1/' }],
          },
        },
      },
    ],
  ] as const)('in the place of: %s', async ([, script]) => {
    const ca = scriptedCa(script);
    const client = ca.client();
    const work = async () => {
      const { url, authorizations } = await client.newOrder({ names: ['a.example'] });
      await client.order(url);
      await client.authorization(authorizations[0] ?? '');
    };
    expect(await failure(work())).toBeInstanceOf(AcmeProtocolError);
    expect(ca.asked.every(({ url }) => url.startsWith(`${CA}/`))).toBe(true);
  });

  test('that the caller has from somewhere', async () => {
    const ca = scriptedCa();
    const client = ca.client();
    const calls = ['order', 'authorization', 'startChallenge', 'waitForOrder', 'waitForAuthorization'] as const;
    for (const call of calls)
      expect(await failure(client[call]('https://10.0.0.1/'))).toBeInstanceOf(AcmeProtocolError);
    expect(ca.asked.every(({ url }) => url.startsWith(`${CA}/`))).toBe(true);
    expect(() => ca.client({ accountUrl: 'https://10.0.0.1/' })).toThrow(AcmeProtocolError);
  });

  test.for(['http://ca.example/dir', 'ca.example/dir', '', 'https://user:secret@ca.example/dir', 'file:///dir'])(
    'no directory at all: %s',
    (directoryUrl) => {
      const make = () => scriptedCa().client({ directoryUrl });
      expect(make).toThrow(AcmeProtocolError);
      expect(make).not.toThrow('secret');
    },
  );
});

test('a URL comes back to the CA as it wrote it', async () => {
  const accountUrl = 'https://CA.example:14000/account/./1';
  const ca = scriptedCa({ '/account': { status: 200, headers: { location: accountUrl }, body: {} } });
  const client = ca.client();
  expect(await client.findAccount()).toEqual({ accountUrl });
  await client.order(`${CA}/order`);
  const { protected: header } = JSON.parse(ca.asked.at(-1)?.body ?? '{}') as { protected: string };
  expect(JSON.parse(Buffer.from(header, 'base64url').toString())).toMatchObject({
    kid: accountUrl,
    url: `${CA}/order`,
  });
});
