import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maskUri } from './mask-uri.ts';

test.each([
  ['/login?user=x&password=hunter2&next=/home', '/login?user=x&password=***&next=/home'],
  ['/?q=1&access_token=a=b%26c', '/?q=1&access_token=***'],
  ['/?pass%77ord=hunter2', '/?pass%77ord=***'],
  ['/?card+num=1&a=?token=x', '/?card+num=1&a=?token=***'],
  ['/shop;jsessionid=ABC/cart?x=1', '/shop;jsessionid=***/cart?x=1'],
  ['/?user[password]=x;y=2', '/?user[password]=***;y=2'],
  ['http://a.example/?API_KEY=k', 'http://a.example/?API_KEY=***'],
])('%s is told as %s', (uri, shown) => {
  expect(maskUri(uri)).toBe(shown);
});

test.each(['/', '/search?q=shoes&page=2', '/compass?north=1', '/?%zz=%', '*', ''])('%s is told as it is', (uri) => {
  expect(maskUri(uri)).toBe(uri);
});

test('the value never shows, whatever surrounds it', () => {
  const piece = fc.stringMatching(/^[a-z0-9%+.\-[\]]{0,20}$/);
  fc.assert(
    fc.property(piece, piece, fc.constantFrom('password', 'Token', 'api-key', 'sessionid'), (path, other, name) => {
      expect(maskUri(`/${path}?${other}=1&${name}=V4LU3&z=${other}`)).not.toContain('V4LU3');
    }),
  );
});
