import { expect, test } from 'vitest';
import { readNginx } from '../../src/index.ts';

/** The host of a server with these lines, and what is told of headers. */
const hostOf = (lines: string) => {
  const content = `server { server_name a.test; ${lines} location / { proxy_pass http://10.0.0.1; } }`;
  const { hosts, errors } = readNginx([{ name: 'nginx.conf', content }]);
  return { errors, host: hosts[0], told: hosts[0]?.warnings.map(({ message }) => message) ?? [] };
};

test.each([
  ['Host', ['$host', '$http_host', '$host:$server_port', '$host:$port', '$HOST']],
  ['X-Real-IP', ['$remote_addr']],
  ['X-Forwarded-For', ['$proxy_add_x_forwarded_for', '$remote_addr']],
  ['X-Forwarded-Proto', ['$scheme']],
  ['X-Forwarded-Host', ['$host', '$http_host']],
  ['X-Forwarded-Port', ['$server_port']],
  ['Upgrade', ['$http_upgrade', 'websocket', '""']],
  ['Connection', ['upgrade', '$http_connection', '$connection_upgrade', '$connection_keep_alive', '""']],
])('%s is sent to upstreams anyway, with just these values', (field, values) => {
  const told = (value: string) => hostOf(`proxy_set_header Host $host; proxy_set_header ${field} ${value};`).told;
  for (const value of values) expect([value, told(value)]).toEqual([value, []]);
  expect(told('other')).toEqual([`the request header ${field} is not changed on the way to the upstream`]);
});

test('a header that is taken away is told, and a host of the upstream’s own', () => {
  expect(hostOf('proxy_set_header Host $host; proxy_set_header X-Real-IP "";').told).toEqual([
    'the request header X-Real-IP is not changed on the way to the upstream',
  ]);
  expect(hostOf('').told).toEqual(["the upstream gets the visitor's Host; nginx sends the upstream's own"]);
  const upgrades = (value: string) => hostOf(`proxy_set_header upgrade ${value};`).host?.websocket_support;
  expect([upgrades('$http_upgrade'), upgrades('""'), hostOf('').host?.websocket_support]).toEqual([true, false, false]);
});

test('how long TLS is demanded is taken over as far as it can be', () => {
  const sent = (value: string) => {
    const { host, told } = hostOf(`proxy_set_header Host $host; add_header Strict-Transport-Security ${value};`);
    return [host?.hsts_enabled, host?.hsts_subdomains, ...told];
  };
  expect(sent('"max-age=63072000; IncludeSubDomains" always')).toEqual([true, true]);
  expect(sent('max-age=63072000')).toEqual([true, false]);
  const shorter = 'Strict-Transport-Security is sent for two years, not for 60 s';
  expect(sent('"max-age=60; preload"')).toEqual([
    true,
    false,
    shorter,
    'Strict-Transport-Security is sent without preload',
  ]);
  for (const none of ['max-age=0', 'includeSubDomains']) {
    const said = `Strict-Transport-Security is not taken over: ${none} says no time`;
    expect(sent(none)).toEqual([undefined, undefined, said]);
  }
  expect(hostOf('proxy_set_header Host $host; add_header X-Own y;').told).toEqual([
    "the answer's header X-Own is not added",
  ]);
});

test.each(['a b:80', '!x', 'x:y', '[::1]x', '0', '65536'])('nothing listens on %s', (address) => {
  expect(hostOf(`listen "${address}";`).errors).toMatchObject([{ line: 1, text: address }]);
});
