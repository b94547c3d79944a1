import { expect, test } from 'vitest';
import { checkSetting } from './check-value.ts';

test.each([
  ['auth.require_totp', 'TRUE', /^value must be true or false$/],
  ['smtp.port', '0', /^value must be a whole number between 1 and 65535$/],
  ['smtp.port', '65536', /between 1 and 65535/],
  ['smtp.port', '1e3', /between 1 and 65535/],
  ['smtp.port', ' 25', /between 1 and 65535/],
  ['smtp.port', '', /between 1 and 65535/],
  ['smtp.security', 'ssl', /^value must be one of: starttls, tls, none$/],
  ['smtp.host', 'a\nb', /one line without control characters/],
  ['backup.passphrase', 'short', /^value must be at least \d+ characters long$/],
  ['backup.schedule', '61 * * * *', /^value must be five fields of a crontab/],
  ['backup.copy_url', 'ftp://x/y', /^value must be https:/],
  ['backup.copy_host_key', 'MD5:x', /^value must be SHA256:/],
  ['backup.copy_private_key', 'x', /^value must be a private key/],
  ['acme.dns_resolvers', 'ns1.example.com', /no address of a name server/],
  ['app.public_url', 'https://example.com/path', /^value: URL must start with/],
  ['smtp.from', 'nobody', /^value /],
  ['no.such', 'x', /^key "no\.such" is not a setting$/],
])('%s is not set to %j', (key, value, message) => {
  const said = expect.stringMatching(message);
  expect(() => checkSetting({ key, value })).toThrow(expect.objectContaining({ status: 400, message: said }));
});

test.each([
  ['smtp.port', '0025', '25'],
  ['smtp.port', '65535', '65535'],
  ['smtp.security', 'none', 'none'],
  ['backup.passphrase', '', ''],
  ['backup.copy_region', 'x', 'x'],
  ['backup.schedule', ' 0 3 * * * ', '0 3 * * *'],
  ['backup.schedule', ' ', ''],
  ['backup.copy_url', ' https://s3.example.com/b ', 'https://s3.example.com/b'],
  ['backup.copy_url', '', ''],
  ['backup.copy_private_key', '', ''],
  ['acme.dns_resolvers', '192.0.2.1, 192.0.2.2', '192.0.2.1 192.0.2.2'],
  ['app.public_url', 'HTTPS://Example.com//', 'https://example.com'],
  ['app.public_url', '', ''],
  ['smtp.from', '', ''],
])('%s set to %j is %j', (key, value, kept) => {
  expect(checkSetting({ key, value })).toEqual({ key, value: kept });
});
