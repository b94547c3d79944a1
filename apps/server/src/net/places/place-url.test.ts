import { expect, test } from 'vitest';
import { parsePlaceUrl } from './place-url.ts';

test('an S3 service is told by endpoint, bucket and prefix', () => {
  const s3 = parsePlaceUrl('https://s3.example.com:9000/bucket/a/b/');
  expect(s3).toMatchObject({ kind: 's3', bucket: 'bucket', prefix: 'a/b/' });
  expect(parsePlaceUrl('http://[::1]:9000/bucket')).toMatchObject({ bucket: 'bucket', prefix: '' });
});

test('an SFTP host is told by user, host and directory', () => {
  const sftp = { kind: 'sftp', host: 'nas.example.com', port: 22, user: 'backup', directory: '/srv/copies' };
  expect(parsePlaceUrl('sftp://backup@nas.example.com/srv/copies/')).toEqual(sftp);
  expect(parsePlaceUrl('sftp://u123%40corp@[fd00::7]:2222/~/copies')).toEqual({
    ...sftp,
    host: 'fd00::7',
    port: 2222,
    user: 'u123@corp',
    directory: './copies',
  });
  // The root of what the host shows, and where it begins.
  expect(parsePlaceUrl('sftp://backup@nas.example.com')).toMatchObject({ directory: '' });
  expect(parsePlaceUrl('sftp://backup@nas.example.com/~')).toMatchObject({ directory: '.' });
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
  'https://example.com/~/bucket',
  'sftp://nas.example.com/backups',
  'sftp://me:word@example.com/backups',
  'sftp://-oProxyCommand=x@example.com/backups',
  'sftp://me%00@example.com/backups',
  'sftp://me%zz@example.com/backups',
  'sftp://me@/backups',
  'sftp://me@exa%6dple.com/backups',
  'sftp://me@example.com:0/backups',
  'sftp://me@example.com/backups/../etc',
  'sftp://me@example.com/~/../etc',
  'sftp://me@example.com/~root/x',
  'sftp://me@example.com/back ups',
  'sftp:me@example.com/backups',
  'bucket',
])('%s is refused', (text) => {
  expect(() => parsePlaceUrl(text)).toThrow(/^must/);
});
