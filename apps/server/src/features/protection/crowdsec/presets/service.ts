import type { CrowdsecPreset, ListQuery, LogEntry } from '@sallyport/contract';
import { type Actor, actorName, type RecordChange } from '@sallyport/store/actor';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { type CrowdsecProgram, whyNotInstalled } from '../program.ts';
import { chosenOf, type Hub, type HubPreset, type PresetChoice, readHub } from './hub.ts';
import type { PresetStore } from './store.ts';

export interface PresetDeps {
  program: CrowdsecProgram;
  db: Executor;
  store: (executor: Executor) => PresetStore;
  /** Rejects with CrowdSec's words when it refuses a scenario of this preset, were the choices these. */
  check: (preset: HubPreset, choices: readonly PresetChoice[]) => Promise<void>;
  /** Resolves when what runs here follows the store. */
  changed: () => Promise<void>;
  /** Why CrowdSec refused a scenario that is to be in force. */
  refusalOf: (scenario: string) => string | undefined;
  transact: Transact;
  record: RecordChange;
  publish: (entry: LogEntry) => void;
  clock: () => Date;
}

/** What CrowdSec judges by, in the parts that its hub has. */
export const createPresets = (deps: PresetDeps) => {
  const { program, db, store, check, changed, refusalOf, transact, record, publish, clock } = deps;

  const hub = (): Hub => {
    const absent = whyNotInstalled(program);
    if (absent !== undefined) throw refuse.unavailable(absent);
    return readHub(program.hub);
  };

  const show = (preset: HubPreset, chosen: ReadonlySet<string>): CrowdsecPreset => {
    const { name, kind, description } = preset;
    const scenarios = preset.scenarios.map((scenario) => ({
      name: scenario.name,
      description: scenario.description,
      applied: chosen.has(scenario.name),
      issue: refusalOf(scenario.name) ?? null,
    }));
    const usable = scenarios.length > 0;
    return { name, kind, description, usable, applied: usable && scenarios.every(({ applied }) => applied), scenarios };
  };

  const namesOf = (from: Hub, choices: readonly PresetChoice[]): Set<string> =>
    new Set(chosenOf(from, choices).map(({ name }) => name));

  const find = ({ presets }: Hub, name: string): HubPreset => {
    const preset = presets.get(name);
    if (!preset) throw refuse.notFound('The hub of CrowdSec has no preset of this name');
    if (preset.scenarios.length === 0) {
      throw refuse.unprocessable(
        `${name} judges nothing that clients ask of a web server, which is all that CrowdSec is told here`,
      );
    }
    return preset;
  };

  /** Whether what is stored differs from what is wanted: none of its scenarios in force, or all of them. */
  const differs = (
    from: Hub,
    { scenarios }: HubPreset,
    choices: readonly PresetChoice[],
    applied: boolean,
  ): boolean => {
    const chosen = namesOf(from, choices);
    return scenarios.some(({ name }) => chosen.has(name) !== applied);
  };

  const change = async (name: string, applied: boolean, actor: Actor): Promise<CrowdsecPreset> => {
    const from = hub();
    const preset = find(from, name);
    const wanted = { preset: name, applied };
    if (applied) await check(preset, [...(await store(db).choices()), wanted]);
    const isChanged = await transact(async (tx) => {
      if (!differs(from, preset, await store(tx).choices(), applied)) return false;
      await store(tx).add(wanted, actorName(actor), clock().toISOString());
      await record(tx, {
        action: applied ? 'crowdsec.apply_preset' : 'crowdsec.take_back_preset',
        actor,
        resource: `admin/crowdsec/presets/${name}`,
        before: { applied: !applied },
        after: { applied },
      });
      return true;
    });
    if (isChanged) {
      publish({
        level: 'info',
        message: `The preset ${name} of CrowdSec was ${applied ? 'applied' : 'taken back'}`,
        timestamp: clock().toISOString(),
        source: 'crowdsec',
        fields: { event: applied ? 'crowdsec_preset_applied' : 'crowdsec_preset_taken_back', preset: name },
      });
    }
    await changed();
    return show(preset, namesOf(from, await store(db).choices()));
  };

  return {
    /** Those that judge the traffic come first, then the rest of the hub. Throws a 503 where CrowdSec is not installed. */
    async list(query: ListQuery): Promise<Page<CrowdsecPreset>> {
      const from = hub();
      const chosen = namesOf(from, await store(db).choices());
      const shown = [...from.presets.values()].map((preset) => show(preset, chosen));
      const ordered = [...shown.filter(({ usable }) => usable), ...shown.filter(({ usable }) => !usable)];
      return pageOfRows(ordered, query, { sortable: ['name', 'kind'], searchable: ['name', 'description'] });
    },

    /** Throws a 404, and a 422 with CrowdSec's words when it refuses it; then nothing is changed. */
    apply: (name: string, actor: Actor): Promise<CrowdsecPreset> => change(name, true, actor),

    /** Throws a 404. */
    takeBack: (name: string, actor: Actor): Promise<CrowdsecPreset> => change(name, false, actor),
  };
};
export type Presets = ReturnType<typeof createPresets>;
