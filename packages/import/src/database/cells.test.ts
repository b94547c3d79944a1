import { expect, test } from 'vitest';
import { flag, isEnabled, list, lossesOfUnknown, number, object, placeOf, reference, text } from './cells.ts';

const place = { file: 'database.sqlite', line: 1 };

test.each([
  ['no column', {}, true],
  ['null', { enabled: null }, true],
  ['1', { enabled: 1 }, true],
  ["'1'", { enabled: '1' }, true],
  ["'True'", { enabled: 'True' }, true],
  ["'t'", { enabled: 't' }, true],
  ['0', { enabled: 0 }, false],
  ["'false'", { enabled: 'false' }, false],
  ["'f'", { enabled: 'f' }, false],
  ["''", { enabled: '' }, false],
  ['what is neither', { enabled: 'perhaps' }, false],
  ['2', { enabled: 2 }, false],
])('what is in force: %s', (_what, row, isInForce) => expect(isEnabled(row)).toBe(isInForce));

test('a cell that says nothing leaves it at what is otherwise; all but no is yes', () => {
  for (const nothing of [{}, { on: null }, { on: '' }]) {
    expect([flag(nothing, 'on'), flag(nothing, 'on', true)]).toEqual([false, true]);
  }
  for (const no of [0, '0', 'false']) expect(flag({ on: no }, 'on', true)).toBe(false);
  for (const yes of [1, '1', 'true', -1]) expect(flag({ on: yes }, 'on')).toBe(true);
});

test('what refers to another row never means none, and never another one, where it is no id', () => {
  const of = (cell: string | number | null) => reference({ list: cell }, 'list');
  expect([null, '', ' ', 0, '0', 7, ' 7 '].map(of)).toEqual([0, 0, 0, 0, 0, 7, 7]);
  expect(['x', '7x', -3, 1.5, '1e300', 'Infinity'].map(of)).toEqual([-1, -1, -1, -1, -1, -1]);
  expect(reference({}, 'list')).toBe(0);
});

test('texts, numbers, lists and objects are read as what they are, or as nothing', () => {
  expect([text({ a: 'x' }, 'a'), text({ a: 5 }, 'a'), text({ a: null }, 'a'), text({}, 'a')]).toEqual([
    'x',
    '5',
    '',
    '',
  ]);
  expect([8, '8', null, 'x', 1.5, 2 ** 60].map((a) => number({ a }, 'a'))).toEqual([8, 8, 0, 0, 0, 0]);
  expect(['', ' null ', '["a"]', '{}', 'x', null].map((a) => list({ a }, 'a'))).toEqual([
    [],
    [],
    ['a'],
    undefined,
    undefined,
    [],
  ]);
  expect(['{"a":1}', 'null', '5', 'x', null].map((a) => object({ a }, 'a'))).toEqual([
    { a: 1 },
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
  expect([{ id: 7 }, { id: 0 }, {}].map((row) => placeOf('a.db', 'hosts', row))).toEqual([
    { file: 'a.db: hosts', line: 7 },
    { file: 'a.db: hosts', line: 1 },
    { file: 'a.db: hosts', line: 1 },
  ]);
});

test('columns that nobody knows are told where they say something, and louder where they may have kept requests out', () => {
  const row = {
    known: 'x',
    colour: 'red',
    Require_Login: 1,
    geo_mode: 'deny',
    empty: ' ',
    none: 'None',
    zero: 0,
    off: 'FALSE',
    nothing: null,
    list: '[]',
    object: ' {} ',
  };
  const losses = lossesOfUnknown(row, new Set(['known']), place);
  expect(losses.map(({ warning }) => warning.message)).toEqual([
    'the column colour is not known here and not taken over',
    'the column Require_Login is not known here and not taken over: it may have kept requests out',
    'the column geo_mode is not known here and not taken over: it may have kept requests out',
  ]);
  expect(losses.map(({ keptOut }) => keptOut)).toEqual([false, true, true]);
});
