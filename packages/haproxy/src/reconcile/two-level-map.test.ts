import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removedRecord } from '../routes/route-record.ts';
import { createTwoLevelMap, type OverlayStep } from './two-level-map.ts';

/** What HAProxy would hold: the overlay is only ever touched by steps, as over the runtime API. */
const createHaproxyMaps = (base: ReadonlyMap<string, string>) => {
  const maps = { base: new Map(base), overlay: new Map<string, string>() };
  return {
    maps,
    take(step: OverlayStep | undefined): void {
      if (step === undefined) return;
      // `add map` does not look for an existing entry, `set` and `del` want one.
      if (maps.overlay.has(step.name) === (step.type === 'add')) throw new Error(`${step.type} of ${step.name}`);
      if (step.type === 'remove') maps.overlay.delete(step.name);
      else maps.overlay.set(step.name, step.record);
    },
    lookUp(name: string): string | undefined {
      const record = maps.overlay.get(name) ?? maps.base.get(name);
      return record === removedRecord ? undefined : record;
    },
  };
};

const names = ['a', 'b', 'c', 'd', 'e'];
const action = fc.oneof(
  fc.record({ type: fc.constant('put' as const), name: fc.constantFrom(...names), record: fc.constantFrom('1', '2') }),
  fc.record({ type: fc.constant('remove' as const), name: fc.constantFrom(...names) }),
  fc.record({ type: fc.constantFrom('begin' as const, 'commit' as const, 'abort' as const) }),
);

describe('two-level map', () => {
  test('HAProxy finds what was put last, whatever folds happen in between', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...names), fc.constantFrom('1', '2')),
        fc.array(action, { maxLength: 40 }),
        (initial, actions) => {
          const truth = new Map(Object.entries(initial));
          const map = createTwoLevelMap();
          map.reset(new Map(truth));
          const haproxy = createHaproxyMaps(truth);
          let fold: ReturnType<typeof map.beginFold> | undefined;
          for (const step of actions) {
            if (step.type === 'put') {
              truth.set(step.name, step.record);
              haproxy.take(map.change(step.name, step.record));
            } else if (step.type === 'remove') {
              truth.delete(step.name);
              haproxy.take(map.change(step.name, undefined));
            } else if (step.type === 'begin') {
              fold ??= map.beginFold();
            } else if (fold) {
              if (step.type === 'commit') {
                haproxy.maps.base = new Map(fold.entries());
                fold.commit();
                haproxy.maps.overlay = new Map(map.overlay);
              } else fold.abort();
              fold = undefined;
            }
            for (const name of names) {
              expect(haproxy.lookUp(name)).toBe(truth.get(name));
              expect(map.get(name)).toBe(truth.get(name));
            }
            expect(map.size).toBe(truth.size);
          }
        },
      ),
      { numRuns: 500 },
    );
  });

  test('a change that restores the base leaves nothing in the overlay', () => {
    const map = createTwoLevelMap();
    map.reset(new Map([['a', '1']]));
    expect(map.change('a', '2')).toEqual({ type: 'add', name: 'a', record: '2' });
    expect(map.change('a', '1')).toEqual({ type: 'remove', name: 'a' });
    expect(map.overlay.size).toBe(0);
  });

  test('a fold holds what is in force when it begins, and none of what is gone', () => {
    const map = createTwoLevelMap();
    map.reset(
      new Map([
        ['a', '1'],
        ['b', '2'],
        ['c', '3'],
      ]),
    );
    map.change('a', undefined);
    map.change('b', '4');
    map.change('d', '5');
    map.change('e', '6');
    map.change('e', undefined);
    const fold = map.beginFold();
    expect(() => map.beginFold()).toThrow('already under way');
    map.change('c', undefined);
    const folded = [
      ['b', '4'],
      ['c', '3'],
      ['d', '5'],
    ];
    expect([...fold.entries()]).toEqual(folded);
    fold.commit();
    expect([...map.base]).toEqual(folded);
    expect([...map.overlay]).toEqual([['c', removedRecord]]);
  });

  test('nothing to do is no step', () => {
    const map = createTwoLevelMap();
    map.reset(new Map([['a', '1']]));
    expect(map.change('a', '1')).toBeUndefined();
    expect(map.change('b', undefined)).toBeUndefined();
  });
});
