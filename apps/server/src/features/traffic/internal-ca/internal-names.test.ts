import { expect, test } from 'vitest';
import { isInternalName } from './internal-names.ts';

test.each([
  ...[
    'nas',
    'nas.lan',
    '*.home.lan',
    'a.b.internal',
    'router.home.arpa',
    'printer.local',
    'localhost',
    'app.localhost',
  ],
  ...['lan', 'intranet.corp', '10.0.0.1', '192.168.1.2', '127.0.0.1', '169.254.1.1', '100.64.0.1', '::1', 'fd00::1'],
  ...['fe80::1', 'home.arpa', '*.home.arpa'],
  ...['localdomain', 'home', 'corp', 'intranet', 'private', 'local', 'internal'].map((suffix) => `a.${suffix}`),
])('no public authority can give anything for %s', (name) => {
  expect(isInternalName(name)).toBe(true);
});

test.each([
  ...['example.com', '*.example.com', 'lan.example.com', 'notlan.xn--p1ai', 'plan', 'my-internal.org'].filter((name) =>
    name.includes('.'),
  ),
  ...['1.1.1.1', '2606:4700:4700::1111', 'home.arpa.example', 'arpa.org'],
])('a public authority can give one for %s', (name) => {
  expect(isInternalName(name)).toBe(false);
});
