import { expect, test } from 'vitest';
import { environmentOf, parseCodes, parseType } from './fields.ts';

const HELP = `Configuration for Some Provider.
Code:   'some'
Since:  'v4.20.0'

Credentials:
  - "SOME_API_KEY":              API key, see [its page](https://some.example/keys)
  - "SOME_USERNAME":             User name
  - "SOME_STRANGE":              Who knows
  - "SOME_PRIVATE_KEY_PATH":     Private key path
  - "SOME_CONFIG_FILE":          Path of a file
  - "LD_PRELOAD":                A library
  - "HTTPS_PROXY":               A proxy
  - "Application Credentials":   None of ours

Additional Configuration:
  - "SOME_API_SECRET":           Another one
  - "SOME_POLLING_INTERVAL":     Time between DNS propagation check
  - "SOME_SEQUENCE_INTERVAL":    Time between sequential requests
  - "SOME_TTL":                  The TTL

More information: https://go-acme.github.io/lego/dns/some
`;

test('what lego tells of a provider becomes fields, but for those that would have a file of the host read', () => {
  const type = parseType('some', HELP);
  expect(type).toMatchObject({ name: 'Some Provider', isSequential: true, pollingKey: 'SOME_POLLING_INTERVAL' });
  expect(type?.fields.map(({ key, secret }) => [key, secret])).toEqual([
    ['SOME_API_KEY', true],
    ['SOME_USERNAME', false],
    // In doubt it is secret.
    ['SOME_STRANGE', true],
    ['SOME_PRIVATE_KEY_PATH', true],
    ['SOME_API_SECRET', true],
    ['SOME_POLLING_INTERVAL', false],
    ['SOME_TTL', false],
  ]);
  expect(type?.fields[0]?.label).toBe('API key, see its page');
  expect(type?.fileKeys).toEqual(['SOME_PRIVATE_KEY_PATH']);
});

test('what to put in is told without links, and blanks about it', () => {
  const help = 'Configuration for Some.\nCredentials:\n  - "SOME_KEY":\t Key, see [its page](https://some.test/) \n';
  expect(parseType('some', help)?.fields[0]?.label).toBe('Key, see its page');
});

test('a provider without a field is none', () => {
  expect(parseType('none', "Configuration for None.\nCode:   'none'\n")).toBeUndefined();
});

test('codes are listed but for those that run commands or keep files', () => {
  const help =
    'All DNS codes:\n  acme-dns, alidns, exec, gandiv5, hyperone,\n  manual, zonomi\n\nMore information: x\n';
  expect(parseCodes(help)).toEqual(['alidns', 'gandiv5', 'zonomi']);
  expect(parseCodes('nothing of the kind')).toEqual([]);
});

test('an environment has the fields that lego told of, the paths of keys, and no variable of ours', () => {
  const type = parseType('some', HELP);
  if (!type) throw new Error('no type');
  const access = {
    type: 'some',
    fields: { SOME_TTL: '60', LD_PRELOAD: '/tmp/x.so', PATH: '/tmp', SOME_CONFIG_FILE: '/etc/shadow' },
    secrets: { SOME_API_KEY: 'k', SOME_PRIVATE_KEY_PATH: 'PEM' },
  };
  const files = { directory: '/run/x', authority: '/run/x/relay.pem', files: { SOME_PRIVATE_KEY_PATH: '/run/x/key' } };
  const environment = environmentOf(type, access, files);
  expect(environment).toMatchObject({
    SOME_TTL: '60',
    SOME_API_KEY: 'k',
    SOME_PRIVATE_KEY_PATH: '/run/x/key',
    SOME_POLLING_INTERVAL: '1',
    HOME: '/run/x',
  });
  expect(environment.PATH).toBe('/usr/local/bin:/usr/bin:/bin');
  for (const name of ['LD_PRELOAD', 'SOME_CONFIG_FILE', 'NODE_ENV']) expect(environment).not.toHaveProperty(name);
});
