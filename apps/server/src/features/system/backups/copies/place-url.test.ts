import { expect, test } from 'vitest';
import { parsePlaceUrl } from './place-url.ts';

test('an S3 service is told by endpoint, bucket and prefix, an SFTP host by user, port and directory', () => {
  const s3 = parsePlaceUrl('https://s3.example.com:9000/bucket/a/b/');
  expect(s3).toMatchObject({ kind: 's3', bucket: 'bucket', prefix: 'a/b/' });
  expect(parsePlaceUrl('http://[::1]:9000/bucket')).toMatchObject({ kind: 's3', bucket: 'bucket', prefix: '' });
  expect(parsePlaceUrl('sftp://me@nas.lan/volume/backups')).toEqual({
    kind: 'sftp',
    host: 'nas.lan',
    port: 22,
    user: 'me',
    directory: '/volume/backups',
  });
  expect(parsePlaceUrl('sftp://me@[::1]:2222')).toMatchObject({ host: '::1', port: 2222, directory: '/' });
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
  'sftp://example.com/backups',
  'sftp://me:word@example.com/backups',
  'sftp://%zz@example.com/backups',
  'bucket',
])('%s is refused', (text) => {
  expect(() => parsePlaceUrl(text)).toThrow(/^must/);
});
