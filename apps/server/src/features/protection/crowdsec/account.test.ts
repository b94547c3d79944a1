import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isRoot } from '../../../../../../test/support/is-root.ts';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { crowdsecAccount } from './account.ts';
import { configFiles, whitelistParser } from './files.ts';

const PACKAGE_DIRECTORY = '/var/lib/crowdsec';

test('root gives it an id that is nobody’s, always the same for one data directory', () => {
  for (const canMount of [true, false]) {
    const ids = ['/a/crowdsec', '/b/crowdsec', '/a/crowdsec'].map(
      (directory) => crowdsecAccount(directory, 0, () => canMount).id,
    );
    expect(ids[0]).toBe(ids[2]);
    expect(ids[0]).not.toBe(ids[1]);
    for (const id of ids) {
      expect(id).toBeGreaterThanOrEqual(61_184);
      expect(id).toBeLessThanOrEqual(65_519);
    }
  }
});

test('finds its files where its account sees them', () => {
  const whole = crowdsecAccount('/data/crowdsec', 0, () => true);
  expect(whole).toMatchObject({
    view: PACKAGE_DIRECTORY,
    state: { at: '/data/crowdsec/state', view: `${PACKAGE_DIRECTORY}/state` },
    cwd: '/',
  });
  const inside = crowdsecAccount('/data/crowdsec', 0, () => false);
  const state = `${PACKAGE_DIRECTORY}/sallyport-${inside.id}`;
  expect(inside).toMatchObject({ view: '/proc/self/cwd', state: { at: state, view: state }, cwd: '/data/crowdsec' });
  const own = { at: '/data/crowdsec/state', view: '/data/crowdsec/state' };
  expect(crowdsecAccount('/data/crowdsec', 1_000)).toMatchObject({
    id: undefined,
    view: '/data/crowdsec',
    state: own,
    cwd: '/',
  });
});

/** What a process of this account is allowed. */
const SHOW = 'umask; id -u; id -g; id -G; grep -E "^(NoNewPrivs|CapEff|CapBnd|CapInh)" /proc/self/status; pwd';

test.skipIf(!isRoot)('a process of its account is nobody, may do nothing, and gets no rights back', () =>
  withTemporaryDirectory(async (directory) => {
    const { id, wrap, cwd } = crowdsecAccount(directory, 0, () => false);
    chmodSync(directory, 0o700);
    const [program, line] = wrap('sh', ['-c', SHOW]);
    const { stdout, stderr } = spawnSync(program, line, { cwd, encoding: 'utf8' });
    expect(stderr).toBe('');
    const [umask, ...rest] = stdout.trim().split('\n');
    expect(umask).toBe('0077');
    expect(rest.slice(0, 3)).toEqual([String(id), String(id), String(id)]);
    const zero = '0000000000000000';
    expect(rest.slice(3, 7).map((one) => one.split(/:\s+/)[1])).toEqual([zero, zero, zero, '1']);
  }),
);

test.skipIf(!isRoot || !crowdsecAccount('/x', 0).view.startsWith(PACKAGE_DIRECTORY))(
  'where root may mount, it sees its own directory in place of the package’s, and nobody else does',
  () =>
    withTemporaryDirectory(async (directory) => {
      const { id = 0, wrap, view, cwd } = crowdsecAccount(directory, 0);
      chmodSync(directory, 0o755);
      writeFileSync(join(directory, 'ours'), 'of this instance');
      const [program, line] = wrap('sh', [
        '-c',
        `cat ${view}/ours; echo; id -u; grep NoNewPrivs /proc/self/status; umask`,
      ]);
      const { stdout } = spawnSync(program, line, { cwd, encoding: 'utf8' });
      expect(stdout.trim().split(/\s+/).join(' ')).toBe(`of this instance ${id} NoNewPrivs: 1 0077`);
      expect(() => readFileSync(join(PACKAGE_DIRECTORY, 'ours'))).toThrow('ENOENT');
    }),
);

test('the local API listens for this machine only, and the internet is for who is enrolled', () => {
  const account = crowdsecAccount('/data/crowdsec', 1_000);
  const alone = configFiles(account, 8_123, false)['etc/config.yaml'] ?? '';
  expect(alone).toContain('listen_uri: "127.0.0.1:8123"');
  expect(alone).toContain('insecure_skip_verify: false');
  expect(alone).toContain('db_path: /data/crowdsec/state/crowdsec.db');
  expect(alone).not.toContain('online_client');
  const enrolled = configFiles(account, 8_123, true)['etc/config.yaml'] ?? '';
  expect(enrolled).toContain('online_client: {credentials_path: /data/crowdsec/console/credentials.yaml}');
});

test('what an administrator bans by hand is told to nobody, and nothing is only simulated', () => {
  const files = configFiles(crowdsecAccount('/data/crowdsec', 1_000), 8_123, true);
  expect(files['etc/console.yaml']).toContain('share_manual_decisions: false\n');
  expect(files['etc/simulation.yaml']).toBe('simulation: false\n');
  expect(files['etc/profiles.yaml']?.match(/decisions: \[\{type: ban, duration: 4h\}\]/g)).toHaveLength(2);
  expect(files['etc/acquis.yaml']).toContain('filenames: [/data/crowdsec/log/access.log]\n');
  // An empty object makes 1.4.6 crash.
  expect(Object.keys(JSON.parse(files['hub/.index.json'] ?? '')).sort()).toEqual([
    'collections',
    'parsers',
    'postoverflows',
    'scenarios',
  ]);
});

test('whom it never looks at is parted into addresses and networks, and is never an empty list', () => {
  const listOf = (name: 'ip' | 'cidr', text: string) =>
    JSON.parse(new RegExp(`^  ${name}: (.*)$`, 'm').exec(text)?.[1] ?? '');
  const some = whitelistParser(['198.51.100.1', '203.0.113.0/24', '2001:db8::1', '2001:db8::/32']);
  expect(listOf('ip', some)).toEqual(['255.255.255.255', '198.51.100.1', '2001:db8::1']);
  expect(listOf('cidr', some)).toEqual(['203.0.113.0/24', '2001:db8::/32']);
  expect(listOf('ip', whitelistParser([]))).toEqual(['255.255.255.255']);
  expect(listOf('cidr', whitelistParser([]))).toEqual([]);
});
