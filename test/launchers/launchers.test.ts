import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

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
    `#!/bin/sh\necho "$1" >>'${npmLog}'\nmkdir -p node_modules\n[ ! -f fail ] || exit 1\ntouch node_modules/.package-lock.json\n`,
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

test.each(['up', 'test', 'sallyport', 'lib/setup.sh', 'lib/node.sh', 'lib/needs.sh', 'lib/install-packages'])(
  'bin/%s is plain sh',
  (name) => {
    expect(spawnSync('sh', ['-n', join(repository, 'bin', name)], { encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    });
  },
);

test('runs npm ci once, and again only when a lockfile or package.json has changed', () => {
  const { write, setUp, installs } = givenRepository();
  expect(setUp('ensure_modules')).toMatchObject({
    stdout: '',
    stderr: 'sallyport: installing the locked npm packages\n',
  });
  expect(setUp('ensure_modules')).toMatchObject({ status: 0, stderr: '' });
  expect(installs()).toBe(1);
  for (const path of ['package-lock.json', 'apps/b/package.json']) {
    const before = installs();
    const changed = write(path, '{"changed": true}');
    // Newer than npm's record, however coarse the clock of the file system is.
    utimesSync(changed, new Date(), new Date(Date.now() + 60_000));
    setUp('ensure_modules');
    expect(installs()).toBe(before + 1);
  }
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
    stderr: 'sallyport: installing the locked npm packages\nsallyport: npm ci failed\n',
  });
  rmSync(obstacle);
  expect(setUp('ensure_modules').status).toBe(0);
  expect(installs()).toBe(2);
  expect(existsSync(join(root, 'node_modules/.sallyport-installed'))).toBe(true);
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
