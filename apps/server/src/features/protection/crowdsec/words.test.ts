import { expect, test } from 'vitest';
import { isAboutOurKey, isDamage, isFailedLookUp, reasonIn, refusedFile } from './words.ts';

const KEY = 'level=error msg="while fetching bouncer info: ';

test.each([
  [`${KEY}select bouncer: context deadline exceeded"`, true],
  [`${KEY}bouncer not found"`, false],
  [`${KEY}database disk image is malformed"`, false],
  ['level=error msg="something else"', false],
])('a key that it could not look up is not one that it does not know: %s', (said, isFailed) => {
  expect(isFailedLookUp(said)).toBe(isFailed);
  expect(isAboutOurKey(said)).toBe(said.startsWith(KEY));
});

test.each([
  ['file is not a database', true],
  ['database disk image is malformed', true],
  ['authenticate watcher (sallyport): while querying: machine not found', true],
  ['authenticate watcher (another): machine not found', false],
  ['database or disk is full', false],
  ['attempt to write a readonly database', false],
])('what its database can not be used for: %s', (said, isOne) => {
  expect(isDamage(`level=fatal msg="x: ${said}"`)).toBe(isOne);
});

test('what ended it: of damage, then of what is fatal, then of all the last word', () => {
  const damaged = 'level=error msg="file is not a database"';
  const [fatal, panic] = ['level=fatal msg="no room"', 'level=panic msg="no way"'];
  expect(reasonIn([damaged, fatal, 'last'])).toBe('file is not a database');
  expect(reasonIn([fatal, panic, 'last'])).toBe('no way');
  expect(reasonIn(['panic: runtime error', 'goroutine 1'])).toBe('panic: runtime error');
  expect(reasonIn(['not a panic: x', 'last'])).toBe('last');
  expect(reasonIn([])).toBeUndefined();
  expect(reasonIn([`x msg="${'a'.repeat(600)}"`])).toBe('a'.repeat(500));
  expect(reasonIn(['msg="say \\"this\\" and" more="x"'])).toBe('say "this" and');
});

test('which scenario it refuses is named by its file, in its place', () => {
  const said = (path: string) => `crowdsec init: while loading scenarios: it is broken in ${path} : why`;
  expect(refusedFile(said('/var/lib/crowdsec/etc/scenarios/a-b_c.yaml'))).toBe('a-b_c.yaml');
  expect(refusedFile(said('/var/lib/crowdsec/etc/parsers/a.yaml'))).toBeUndefined();
  expect(refusedFile(said('/scenarios/a.yml'))).toBeUndefined();
  expect(refusedFile('out of memory')).toBeUndefined();
});
