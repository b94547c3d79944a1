import { expect, test } from 'vitest';
import { parsePlaceUrl } from './place-url.ts';

test('an S3 service is told by endpoint, bucket and prefix', () => {
  const s3 = parsePlaceUrl('https://s3.example.com:9000/bucket/a/b/');
  expect(s3).toMatchObject({ bucket: 'bucket', prefix: 'a/b/' });
  expect(parsePlaceUrl('http://[::1]:9000/bucket')).toMatchObject({ bucket: 'bucket', prefix: '' });
});

test.each([
  'ftp://example.com/x',
  'https://example.com',
  'https://example.com/bucket?x=1',
  'https://example.com/bucket#x',
  'https://user:word@example.com/bucket',
  'https://user@example.com/bucket',
  'https://example.com/bucket/../other',
  'https://example.com/bucket/%2e%2e/other',
  'https://example.com/bucket//x',
  'https://example.com/bucket/a b',
  'sftp://me@example.com/backups',
  'bucket',
])('%s is refused', (text) => {
  expect(() => parsePlaceUrl(text)).toThrow(/^must/);
});
