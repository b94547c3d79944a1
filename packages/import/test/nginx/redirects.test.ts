import { expect, test } from 'vitest';
import { readNginx } from '../../src/index.ts';

const CONFIGURATION = `server { listen 80; server_name www.a.test w.a.test;
  return 308 https://a.test$request_uri; }
server { listen 80 default_server; server_name _;
  return 302 https://else.test/; }
server { listen 80; server_name b.test; root /srv;
  location /old { return 307 /new; }
  rewrite ^/gone$ https://c.test/ permanent; }
server { listen 80; server_name a.test;
  return 301 https://d.test/; }
server { listen 443 ssl; server_name a.test;
  rewrite ^/moved/(.*)$ /here/$1 redirect;
  if ($request_uri ~ ^/x) { return 303 /y; }
  location /z { return 301 https://e.test/; }
  location / { proxy_pass http://10.0.0.1; } }
`;

test('each redirect is told with its place, its source, where it leads and with which code', () => {
  const { hosts, warnings, errors } = readNginx([{ name: 'nginx.conf', content: CONFIGURATION }]);
  expect(errors).toEqual([]);
  const told = (list: readonly { line: number; message: string }[] = []) =>
    list.filter(({ message }) => message.includes('redirect')).map(({ line, message }) => `${line} ${message}`);
  expect(told(warnings)).toEqual([
    '4 this server is not imported: server_name _: requests for any other name are not answered by this host; it redirects to https://else.test/ (302)',
    '2 www.a.test, w.a.test is not imported: it only redirects to https://a.test$request_uri (308), and a proxy host needs an upstream',
    '7 requests for ^/gone$ are not redirected to https://c.test/ (301) here',
    '6 requests for /old are not redirected to /new (307) here',
  ]);
  expect(hosts.map(({ domain, enabled }) => [domain, enabled])).toEqual([['a.test', undefined]]);
  expect(told(hosts[0]?.warnings)).toEqual([
    '11 requests for ^/moved/(.*)$ are redirected to /here/$1 (302) in nginx; here they go to the upstream',
    '12 if ($request_uri ~ ^/x) redirects some requests to /y (303); here it does not',
    '13 requests for /z are redirected to https://e.test/ (301) in nginx; here they go to the upstream',
    '10 the server in nginx.conf:8 has the same name and is left out: it redirects to https://d.test/ (301)',
  ]);
});
