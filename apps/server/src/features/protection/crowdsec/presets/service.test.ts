import type { LogEntry } from '@sallyport/contract';
import { type ChangeEntry, systemActor } from '@sallyport/store/actor';
import { refuse } from '@sallyport/store/errors';
import { expect, test } from 'vitest';
import { type ScriptedCrowdsec, scriptedCrowdsec } from '../../../../testing/scripted-crowdsec.ts';
import { withStore } from '../../../../testing/with-store.ts';
import type { PresetChoice } from './hub.ts';
import { createPresets } from './service.ts';
import { presetStore } from './store.ts';

const actor = systemActor('test');
const NOW = '2026-05-02T12:00:00.000Z';

interface Given {
  presets: ReturnType<typeof createPresets>;
  scripted: ScriptedCrowdsec;
  choices: () => Promise<PresetChoice[]>;
  recorded: ChangeEntry[];
  published: LogEntry[];
  /** What was checked, and how often what runs was told. */
  told: { checked: [string, readonly PresetChoice[]][]; changed: number };
}

const given = (work: (it: Given) => Promise<void>): Promise<void> =>
  withStore(async ({ kysely: db, transact }) => {
    const scripted = await scriptedCrowdsec();
    for (const name of ['one', 'two']) scripted.scenario(name);
    const recorded: ChangeEntry[] = [];
    const published: LogEntry[] = [];
    const told: Given['told'] = { checked: [], changed: 0 };
    const presets = createPresets({
      program: scripted.program,
      db,
      transact,
      store: presetStore,
      async check({ name }, choices) {
        told.checked.push([name, choices]);
        if (name === 'test/bad') throw refuse.unprocessable('CrowdSec refuses it');
      },
      async changed() {
        told.changed += 1;
      },
      refusalOf: (name) => (name === 'test/two' ? 'it is broken' : undefined),
      record: async (_tx: unknown, entry: ChangeEntry) => void recorded.push(entry),
      publish: (entry) => void published.push(entry),
      clock: () => new Date(NOW),
    });
    await work({ presets, scripted, choices: () => presetStore(db).choices(), recorded, published, told });
  });

test('what is taken back is stored, told and recorded once, and what runs follows', () =>
  given(async ({ presets, choices, recorded, published, told }) => {
    expect(await presets.takeBack('test/one', actor)).toMatchObject({
      ...{ name: 'test/one', kind: 'scenario', usable: true, applied: false },
      scenarios: [{ name: 'test/one', applied: false, issue: null }],
    });
    await presets.takeBack('test/one', actor);
    expect(await choices()).toEqual([{ preset: 'test/one', applied: false }]);
    const resource = 'admin/crowdsec/presets/test/one';
    const takenBack = { action: 'crowdsec.take_back_preset', before: { applied: true }, after: { applied: false } };
    expect(recorded).toEqual([{ ...takenBack, actor, resource }]);
    expect(published).toMatchObject([
      {
        level: 'info',
        timestamp: NOW,
        source: 'crowdsec',
        fields: { event: 'crowdsec_preset_taken_back', preset: 'test/one' },
      },
    ]);
    expect(published[0]?.message).toBe('The preset test/one of CrowdSec was taken back');
    expect(told).toEqual({ checked: [], changed: 2 });

    expect(await presets.apply('test/one', actor)).toMatchObject({ applied: true });
    expect(told.checked).toEqual([
      [
        'test/one',
        [
          { preset: 'test/one', applied: false },
          { preset: 'test/one', applied: true },
        ],
      ],
    ]);
    expect(await choices()).toEqual([{ preset: 'test/one', applied: true }]);
    expect(recorded.at(-1)).toMatchObject({
      action: 'crowdsec.apply_preset',
      before: { applied: false },
      after: { applied: true },
    });
    expect(published.at(-1)?.message).toBe('The preset test/one of CrowdSec was applied');
    expect(published.at(-1)?.fields).toMatchObject({ event: 'crowdsec_preset_applied' });
  }));

test('a collection is applied when all of it is', () =>
  given(async ({ presets, scripted, recorded }) => {
    scripted.collection('both', 'test/one', 'test/two');
    expect(await presets.apply('test/both', actor)).toMatchObject({ kind: 'collection', applied: true });
    await presets.takeBack('test/one', actor);
    const both = (await presets.list({})).rows.find(({ name }) => name === 'test/both');
    expect(both).toMatchObject({ usable: true, applied: false, scenarios: [{ applied: false }, { applied: true }] });
    // A part of it is there to be taken back, and one to be applied.
    expect(await presets.takeBack('test/both', actor)).toMatchObject({
      scenarios: [{ applied: false }, { applied: false }],
    });
    await presets.apply('test/two', actor);
    expect(await presets.apply('test/both', actor)).toMatchObject({ applied: true });
    expect(recorded).toHaveLength(4);
  }));

test('what is in force already is no change', () =>
  given(async ({ presets, choices, recorded, published, told }) => {
    expect(await presets.apply('test/one', actor)).toMatchObject({ applied: true });
    expect([await choices(), recorded, published, told.changed]).toEqual([[], [], [], 1]);
  }));

test('what CrowdSec refuses is not stored, nor what its hub has not', () =>
  given(async ({ presets, choices, recorded, scripted, told }) => {
    scripted.scenario('bad');
    await presets.takeBack('test/bad', actor);
    await expect(presets.apply('test/bad', actor)).rejects.toMatchObject({ status: 422 });
    for (const change of [presets.apply, presets.takeBack]) {
      await expect(change('test/none', actor)).rejects.toMatchObject({ status: 404 });
      await expect(change('__proto__', actor)).rejects.toMatchObject({ status: 404 });
    }
    expect([await choices(), recorded.length, told.changed]).toEqual([[{ preset: 'test/bad', applied: false }], 1, 1]);
  }));

test('those that judge the traffic come first, with what is in force and why not', () =>
  given(async ({ presets, scripted }) => {
    scripted.useless('a-first');
    await presets.takeBack('test/one', actor);
    const { rows, total } = await presets.list({});
    expect(rows.map(({ name, usable, applied }) => [name, usable, applied])).toEqual([
      ['test/one', true, false],
      ['test/two', true, true],
      ['test/a-first', false, false],
    ]);
    expect(total).toBe(3);
    expect(rows[1]?.scenarios).toEqual([{ name: 'test/two', description: '', applied: true, issue: 'it is broken' }]);
    await expect(presets.takeBack('test/a-first', actor)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining('judges nothing that clients ask of a web server'),
    });
    scripted.program.cli = '/nowhere';
    await expect(presets.list({})).rejects.toMatchObject({ status: 503 });
  }));
