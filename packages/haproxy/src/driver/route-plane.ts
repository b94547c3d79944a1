import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DesiredHost, HostChange } from '../model/desired.ts';
import { createTwoLevelMap, type OverlayStep } from '../reconcile/two-level-map.ts';
import { removedRecord } from '../routes/route-record.ts';
import type { MapCommands } from '../runtime/maps.ts';
import { RuntimeRefused, RuntimeUnavailable } from '../runtime/runtime-errors.ts';
import { createRouteBook, type RouteBook } from './route-book.ts';
import { baseChunks, writeBase, writeBaseOnce, writeOverlay as writeOverlayFile } from './route-files.ts';

export type RoutePlaneOptions = {
  directory: string;
  overlay: MapCommands;
  base: MapCommands;
  /** The same map over a second socket, so that a fold does not hold up changes. */
  bulkBase: MapCommands;
  /** Entries the overlay may hold before it is folded into the base. */
  overlayLimit: number;
  /** Bytes of one runtime payload. */
  payloadBytes: number;
  /** Awaited between two payloads of a fold, to leave HAProxy's event loop to the traffic. */
  foldPause: () => Promise<void>;
};

type FoldOptions = { isVerified: boolean };

/** Steps for HAProxy, or undefined when they are too many; `repair` then takes them there. */
type Planned = { steps: OverlayStep[] | undefined; changedNames: number };

const namesPerTurn = 10_000;

/** Keeps files and HAProxy's route maps at the intended contents. Not concurrent: the caller serialises. */
export const createRoutePlane = (options: RoutePlaneOptions) => {
  const { directory, overlay, base, bulkBase, overlayLimit, payloadBytes, foldPause } = options;
  const table = createTwoLevelMap();
  let book = createRouteBook();
  let isBaseFileCurrent = false;
  /** Names that changes have come to since everything began to be compared. */
  let touched: Set<string> | undefined;

  const writeOverlay = (): Promise<void> => writeOverlayFile(directory, table.overlay);

  const runStep = async (step: OverlayStep): Promise<void> => {
    // What is not known may hold the entry that is to be added: there would be two.
    if (step.type === 'add' && !table.isBaseUnknown) return overlay.add(step.name, step.record);
    // A large change that waits for its fold may have left the overlay without the entry.
    try {
      if (step.type === 'remove') await overlay.remove(step.name);
      else await overlay.set(step.name, step.record);
    } catch (error) {
      if (!(error instanceof RuntimeRefused)) throw error;
      if (step.type !== 'remove') await overlay.add(step.name, step.record);
    }
  };

  const lookUp = async (name: string): Promise<string | undefined> =>
    (await overlay.get(name)) ?? (await base.get(name));

  const isLive = async (name: string): Promise<boolean> => {
    const found = await lookUp(name);
    return (found === removedRecord ? undefined : found) === table.get(name);
  };

  /** Rejects unless HAProxy has the intended route for every one of these names. */
  const verify = async (steps: readonly { name: string }[]): Promise<void> => {
    for (const { name } of steps) {
      if (!(await isLive(name))) throw new Error(`HAProxy does not hold the route just given for ${name}`);
    }
  };

  /** Compares one of HAProxy's maps with what it should hold; returns the number of differing entries. */
  const countDrift = async (map: MapCommands, intended: ReadonlyMap<string, string>): Promise<number> => {
    let matching = 0;
    let differing = 0;
    await map.forEach((name, record) => {
      if (intended.get(name) === record) matching++;
      else differing++;
    });
    // A duplicated entry counts as one match too many.
    return differing + Math.abs(intended.size - matching);
  };

  /** What HAProxy's base holds otherwise than it should: how many entries, and of which names. */
  const baseDrift = async (): Promise<{ count: number; names: ReadonlySet<string> }> => {
    const count = await countDrift(bulkBase, table.base);
    const names = new Set<string>();
    if (count === 0) return { count, names };
    const matching = new Set<string>();
    await bulkBase.forEach((name, record) => {
      if (table.base.get(name) === record) matching.add(name);
      else names.add(name);
    });
    for (const name of table.base.keys()) if (!matching.has(name)) names.add(name);
    return { count, names };
  };

  const verifyAll = async (): Promise<void> => {
    const drifted = (await countDrift(bulkBase, table.base)) + (await countDrift(overlay, table.overlay));
    if (drifted > 0) throw new Error(`${drifted} routes in HAProxy differ from those just given`);
  };

  /** Names whose record is another one in `target`, with that. Yields to other work. */
  const differences = async (target: ReadonlyMap<string, string>): Promise<Map<string, string | undefined>> => {
    const changes = new Map<string, string | undefined>();
    let count = 0;
    for (const [name, record] of target) {
      if (table.get(name) !== record) changes.set(name, record);
      if (++count % namesPerTurn === 0) await yieldToOthers();
    }
    if (target.size === table.size && changes.size === 0) return changes;
    for (const known of [table.base, table.overlay]) {
      for (const name of known.keys()) {
        if (!target.has(name) && table.get(name) !== undefined) changes.set(name, undefined);
        if (++count % namesPerTurn === 0) await yieldToOthers();
      }
    }
    return changes;
  };

  return {
    get names(): number {
      return table.size;
    },
    get overlaySize(): number {
      return table.overlay.size;
    },
    get needsFold(): boolean {
      return table.overlay.size > overlayLimit;
    },
    get hosts(): RouteBook {
      return book;
    },
    verify,

    /** Takes changes into the intended contents and the files; returns the steps for HAProxy and what was refused. */
    async plan(changes: readonly HostChange[]): Promise<{ steps: OverlayStep[]; refused: Map<number, string> }> {
      const { changedNames, refused } = book.change(changes);
      const steps = [];
      for (const [name, record] of changedNames) {
        touched?.add(name);
        const step = table.change(name, record);
        if (step) steps.push(step);
      }
      if (steps.length > 0) await writeOverlay();
      return { steps, refused };
    },

    /**
     * Runs steps in HAProxy and reads each one back, but for those that later changes have overtaken. Rejects with
     * RuntimeRefused or RuntimeUnavailable.
     */
    async run(steps: readonly OverlayStep[]): Promise<void> {
      const due = steps.filter((step) => table.overlay.get(step.name) === ('record' in step ? step.record : undefined));
      for (const step of due) await runStep(step);
      await verify(due);
    },

    /** Whether HAProxy has the intended route for each of these names. */
    async areLive(names: readonly string[]): Promise<boolean> {
      for (const name of names) if (!(await isLive(name))) return false;
      return true;
    },

    /**
     * Folds the overlay into the base: file, HAProxy's base, then the overlay. `exclusively` runs the last part, in
     * which no change may happen; before it changes go on as usual. With `isVerified` everything is read back.
     */
    async fold(exclusively: (task: () => Promise<void>) => Promise<void>, { isVerified }: FoldOptions): Promise<void> {
      const fold = table.beginFold();
      let isCommitted = false;
      try {
        await writeBase(directory, baseChunks(fold.entries()));
        isBaseFileCurrent = true;
        // Without HAProxy only the files are folded; what it then lacks is repaired when it is back.
        let unavailable: unknown;
        const orUnavailable = (error: unknown): void => {
          if (!(error instanceof RuntimeUnavailable)) throw error;
          unavailable = error;
        };
        await bulkBase.replace(fold.entries(), { payloadBytes, pause: foldPause }).catch(orUnavailable);
        await exclusively(async () => {
          fold.commit();
          isCommitted = true;
          if (!unavailable) await overlay.replace(table.overlay, { payloadBytes }).catch(orUnavailable);
          await writeOverlay();
          if (isVerified && !unavailable) await verifyAll().catch(orUnavailable);
        });
        if (unavailable) throw unavailable;
      } finally {
        if (!isCommitted) fold.abort();
      }
    },

    /**
     * Works out what has to change for these hosts to be the intended contents, and writes the base file if it is to be
     * another one. Changes go on meanwhile. Resolves to what makes it so, to be run while none is under way, with those that
     * came too late for `hosts`.
     */
    async prepare(hosts: Iterable<DesiredHost>): Promise<(latest: readonly HostChange[]) => Promise<Planned>> {
      const overtaken = new Set<string>();
      touched = overtaken;
      const next = createRouteBook();
      const target = await next.reset(hosts);
      const isFirst = table.size === 0 && table.overlay.size === 0;
      const changes = isFirst ? new Map<string, string | undefined>() : await differences(target);
      const isWhole = isFirst || !isBaseFileCurrent || changes.size + table.overlay.size > overlayLimit;
      if (isWhole) await writeBaseOnce(directory, () => baseChunks(target));
      return async (latest) => {
        touched = undefined;
        const { changedNames } = next.change(latest);
        // What was changed meanwhile is compared anew.
        for (const name of overtaken) if (!changedNames.has(name)) changedNames.set(name, target.get(name));
        // Until it is repaired: who changes everything reads back afterwards.
        table.isBaseUnknown = true;
        const isSame = changes.size === 0 && table.overlay.size === 0 && !(isFirst && target.size > 0);
        if (isWhole) {
          table.reset(target);
          isBaseFileCurrent = true;
        }
        book = next;
        const steps = [...(isWhole ? changedNames : new Map([...changes, ...changedNames]))]
          .map(([name, record]) => table.change(name, record))
          .filter((step) => step !== undefined);
        if (isWhole || steps.length > 0) await writeOverlay();
        return { steps: isWhole && !isSame ? undefined : steps, changedNames: isFirst ? target.size : changes.size };
      };
    },

    /**
     * Reads back both maps and replaces what differs from the intended contents; returns the differing entries. At no
     * moment in between is a name served by an older record than before or after. Changes go on meanwhile, said in the
     * overlay, but for the parts that run `exclusively`; no fold may.
     */
    async repair(exclusively: <T>(task: () => Promise<T>) => Promise<T>): Promise<number> {
      table.isBaseUnknown = true;
      const { count: drifted, names } = await baseDrift();
      if (drifted > 0) {
        // Neither order of the two maps would do: HAProxy's overlay may speak for changes that its base lacks, and its
        // base hold what an older overlay rules. So first the overlay says everything that the base does not.
        await exclusively(async () => {
          const bridge = new Map(table.overlay);
          for (const name of names) if (!bridge.has(name)) bridge.set(name, table.get(name) ?? removedRecord);
          await overlay.replace(bridge, { payloadBytes, pause: foldPause });
        });
        await bulkBase.replace(table.base, { payloadBytes, pause: foldPause });
      }
      return exclusively(async () => {
        const driftedOverlay = await countDrift(overlay, table.overlay);
        if (drifted + driftedOverlay > 0) await overlay.replace(table.overlay, { payloadBytes });
        table.isBaseUnknown = false;
        return drifted + driftedOverlay;
      });
    },
  };
};
