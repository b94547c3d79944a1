import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BOUNCER_KEY, scriptedCrowdsec } from '../../../testing/scripted-crowdsec.ts';
import { prepareInstance, readCredentials, tryRules, writeConsole, writeRules } from './instance.ts';
import { readHub } from './presets/hub.ts';
import { DEBIAN, readVersion, whyNotInstalled } from './program.ts';

const CONSOLE = { login: 'machine', password: 'secret', url: 'https://console.test' };

const given = async () => {
  const scripted = await scriptedCrowdsec();
  scripted.scenario('one');
  scripted.scenario('two');
  const { instance, program, directory } = scripted;
  const at = (name: string): string => join(instance.directory, name);
  return {
    ...scripted,
    at,
    text: (name: string) => readFileSync(at(name), 'utf8'),
    hub: () => readHub(program.hub).scenarios,
    asked: () =>
      existsSync(join(directory, 'asked')) ? readFileSync(join(directory, 'asked'), 'utf8').trim().split('\n') : [],
  };
};

test('all that it reads is written anew, and its credentials are made once', async () => {
  const { instance, at, text, asked, hub } = await given();
  mkdirSync(at('etc/scenarios'), { recursive: true });
  writeFileSync(at('etc/scenarios/old.yaml'), 'broken');
  expect(await prepareInstance(instance)).toBe(BOUNCER_KEY);
  expect(readdirSync(at('etc/scenarios')).sort()).toEqual(['test-one.yaml', 'test-two.yaml']);
  expect(readdirSync(at('etc/parsers'))).toEqual(['s00-raw', 's01-parse', 's02-enrich']);
  expect(readdirSync(at('etc/parsers/s02-enrich')).sort()).toEqual([
    'dateparse-enrich.yaml',
    'http-logs.yaml',
    'sallyport-whitelist.yaml',
  ]);
  expect(text('etc/parsers/s01-parse/nginx-logs.yaml')).toContain('nginx-logs');
  expect(readdirSync(at('etc/patterns')).length).toBeGreaterThan(0);
  expect(text('etc/config.yaml')).toContain(`127.0.0.1:${instance.port}`);
  expect(readdirSync(at('etc/notifications'))).toEqual([]);
  expect(text('log/access.log')).toBe('');
  expect(statSync(at('key')).mode & 0o777).toBe(0o600);
  expect(statSync(at('state')).mode & 0o777).toBe(0o700);
  expect([statSync(at('.')).mode & 0o777, statSync(at('etc')).mode & 0o777]).toEqual([0o750, 0o750]);
  expect(statSync(at('etc/config.yaml')).mode & 0o777).toBe(0o640);
  expect(readCredentials(instance)).toEqual({ machine_id: 'sallyport', password: 'se cret' });
  expect(asked()).toHaveLength(2);

  // Neither the log nor who we are is lost by the next start.
  writeFileSync(at('log/access.log'), 'a line\n');
  const [one] = hub();
  expect(await prepareInstance(instance, { whitelist: ['192.0.2.1'], scenarios: one ? [one] : [] })).toBe(BOUNCER_KEY);
  expect(text('log/access.log')).toBe('a line\n');
  expect(readdirSync(at('etc/scenarios'))).toHaveLength(1);
  expect(text('etc/parsers/s02-enrich/sallyport-whitelist.yaml')).toContain('192.0.2.1');
  expect(asked()).toHaveLength(2);
});

test.each(['key', 'state/crowdsec.db', 'state/credentials.yaml'])(
  'all three are made anew when one is missing: %s',
  async (name) => {
    const { instance, at, asked, givesKey } = await given();
    await prepareInstance(instance);
    rmSync(at(name));
    writeFileSync(at('state/left'), 'of the old ones');
    givesKey('another/key+0123456789==');
    expect(await prepareInstance(instance)).toBe('another/key+0123456789==');
    expect(asked()).toHaveLength(4);
    expect(existsSync(at('state/left'))).toBe(false);
  },
);

test('what is no key is none, and what cscli says last is told', async () => {
  const { instance, at, givesKey, cliRefuses } = await given();
  for (const key of ['short', `${BOUNCER_KEY} and words`, '']) {
    givesKey(key);
    await expect(prepareInstance(instance)).rejects.toThrow('cscli made no key for the decisions');
    expect(existsSync(at('key'))).toBe(false);
  }
  cliRefuses('first\nthe disk is full');
  await expect(prepareInstance(instance)).rejects.toThrow(/^cscli machines add: the disk is full$/);
  cliRefuses('setpriv: setresuid failed: Operation not permitted');
  await expect(prepareInstance(instance)).rejects.toThrow(/not permitted; root lacks rights here/);
});

test('who is enrolled has a file of it that is nobody else’s, and who is not has none', async () => {
  const { instance, at, text } = await given();
  await prepareInstance(instance, undefined, CONSOLE);
  expect(JSON.parse(text('console/credentials.yaml'))).toEqual({ ...CONSOLE, url: 'https://console.test/' });
  expect(statSync(at('console/credentials.yaml')).mode & 0o777).toBe(0o600);
  expect(text('etc/config.yaml')).toContain('online_client');
  writeConsole(instance, undefined);
  expect(existsSync(at('console'))).toBe(false);
  await prepareInstance(instance, undefined, CONSOLE);
  await prepareInstance(instance);
  expect(existsSync(at('console'))).toBe(false);
  expect(text('etc/config.yaml')).not.toContain('online_client');
});

test('rules are written for a process that runs without touching the rest', async () => {
  const { instance, at, text, hub } = await given();
  await prepareInstance(instance);
  const config = text('etc/config.yaml');
  writeRules(instance, { whitelist: ['198.51.100.0/24'], scenarios: hub().filter(({ name }) => name === 'test/two') });
  expect(readdirSync(at('etc/scenarios'))).toEqual(['test-two.yaml']);
  expect(text('etc/parsers/s02-enrich/sallyport-whitelist.yaml')).toContain('198.51.100.0/24');
  expect(text('etc/config.yaml')).toBe(config);
  expect(statSync(at('etc/scenarios/test-two.yaml')).mode & 0o777).toBe(0o640);
});

test('rules are tried beside the process, and nothing is left of it', async () => {
  const { instance, at, scenario, hub, lastWords, text } = await given();
  await prepareInstance(instance);
  const before = readdirSync(instance.directory).sort();
  expect(await tryRules(instance, { whitelist: [], scenarios: hub() })).toBeUndefined();
  scenario('bad', 'broken');
  expect(await tryRules(instance, { whitelist: [], scenarios: hub() })).toMatch(
    /while loading scenarios: .* in \S+\/trial\/etc\/scenarios\/test-bad\.yaml : no such filter$/,
  );
  lastWords('level=fatal msg="it is another matter"\nlast');
  expect(await tryRules(instance, { whitelist: [], scenarios: [] })).toBe('it is another matter');
  expect(readdirSync(instance.directory).sort()).toEqual(before);
  expect(readdirSync(at('etc/scenarios')).sort()).toEqual(['test-one.yaml', 'test-two.yaml']);
  expect(text('state/credentials.yaml')).toContain('sallyport');
});

test('what is not installed is said, and so is the version', async () => {
  const { program } = await given();
  expect(whyNotInstalled(program)).toBeUndefined();
  expect(whyNotInstalled({ ...program, daemon: '/nowhere' })).toMatch(/^CrowdSec is not installed; install it with: /);
  expect(whyNotInstalled({ ...program, cli: '/nowhere' })).toMatch(/^CrowdSec is not installed; /);
  expect(whyNotInstalled({ ...program, hub: '/nowhere' })).toMatch(
    /^CrowdSec lacks \/nowhere, which Debian's package brings; /,
  );
  expect(DEBIAN).toEqual({ daemon: '/usr/bin/crowdsec', cli: '/usr/bin/cscli', hub: '/usr/share/crowdsec/hub' });
  expect(await readVersion(program)).toBe('1.4.6');
  expect(await readVersion({ ...program, daemon: '/nowhere' })).toBeNull();
});
