import { setTimeout as delay } from 'node:timers/promises';
import type { EmergencyReset } from '@sallyport/contract';
import { type Applied, notApplied } from '@sallyport/enforcement/live-map';
import { type Actor, systemActor } from '@sallyport/store/actor';
import { SWITCH_KEYS } from '@sallyport/store/security-switches';
import type { Logger } from 'pino';
import { type PendingNote, settle } from './pending.ts';

export interface ResetDeps {
  /** See `openProxy`. */
  openProxy(): Promise<Applied>;
  /** Switches the suite off in the store and writes that down; rejects when the store can't be written at the moment. */
  switchOff(actor: Actor): Promise<void>;
  note: PendingNote;
  log: Logger;
}

// Spec: the reset's effect is there within seconds; we promise two, and what takes longer is waited for afterwards.

/** An HAProxy that hangs must not keep us from the store. */
const PROXY_WITHIN_MS = 600;
const REST_WITHIN_MS = 1_200;
const RETRY_MS = 1_000;

/** Settings that a reset sets off, in the order of the spec. */
export const DISABLED_MODULES: readonly string[] = Object.values(SWITCH_KEYS);

const MESSAGE = 'All security modules are switched off';
const SILENT = notApplied('HAProxy has not answered so far');

/** What comes of some work, or `otherwise` when that takes longer. */
const within = async <T>(ms: number, work: Promise<T>, otherwise: T): Promise<T> => {
  const timer = new AbortController();
  try {
    return await Promise.race([work, delay(ms, otherwise, { signal: timer.signal })]);
  } finally {
    timer.abort();
  }
};

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Makes the reset: the proxy first, so that neither a store that is locked, full or away nor a server that hangs keeps the
 * operator out. As long as the switches could not be stored the proxy is opened again every second, whoever closes it.
 */
export const createReset = ({ openProxy, switchOff, note, log }: ResetDeps) => {
  let isStopped = false;
  let unstored = 0;

  /** What stays noted counts at the next start: that is told, and is no reason to store it again. */
  const forget = (forgetIt: () => void): void => {
    try {
      forgetIt();
    } catch (error) {
      log.error({ reason: reasonOf(error) }, 'the emergency reset is stored, and stays noted as if it were not');
    }
  };

  /** Returns whether it was stored now. */
  const tryToStore = async (actor: Actor, isFirst: boolean): Promise<boolean> => {
    try {
      await switchOff(actor);
      return true;
    } catch (error) {
      if (isFirst) {
        log.error({ reason: reasonOf(error) }, 'the emergency reset can not be stored yet; the proxy is kept open');
      }
      return false;
    }
  };

  /** `isDone`: whether another process has stored it meanwhile; whatever we did would undo what came since. */
  const store = async (actor: Actor, isDone: () => boolean): Promise<void> => {
    unstored += 1;
    for (let isFirst = true; !isStopped; isFirst = false) {
      if (isDone()) {
        unstored -= 1;
        log.info('another process has stored the emergency reset');
        return;
      }
      const isStored = await tryToStore(actor, isFirst);
      if (isStored) {
        unstored -= 1;
        if (unstored === 0) forget(() => note.write(''));
      }
      // Whoever enforced between our opening and this meets the new switches from now on; what it did is undone.
      await within(PROXY_WITHIN_MS, openProxy(), SILENT);
      if (isStored) return;
      await delay(RETRY_MS, undefined, { ref: false });
    }
  };

  // What earlier processes were asked for and could not store: of every kind, as some may not be started any more.
  const left = note.all();
  if (left.length > 0) {
    const stored = store(systemActor('emergency reset of an earlier process'), () => note.all().length === 0);
    void stored.then(() => {
      if (!isStopped) for (const pending of left) forget(() => settle(pending));
    });
  }

  return {
    /** Switches everything off. Resolves within two seconds, with what became of it in words. */
    async run(actor: Actor): Promise<EmergencyReset> {
      const opening = openProxy();
      await within(PROXY_WITHIN_MS, opening, SILENT);
      let isNoted = false;
      try {
        note.write(new Date().toISOString());
        isNoted = true;
      } catch (error) {
        log.error({ reason: reasonOf(error) }, 'the emergency reset can not be noted for the next start');
      }
      const storing = store(actor, () => isNoted && note.read() === '').then(() => true);
      const [isStored, opened] = await Promise.all([
        within(REST_WITHIN_MS, storing, false),
        within(REST_WITHIN_MS, opening, SILENT),
      ]);
      const message = [
        MESSAGE,
        ...(isStored ? [] : ['the store can not be written at the moment: this is tried again every second']),
        ...(opened.applied ? [] : [`the proxy could not be told (${opened.issue}) and starts open`]),
      ].join('; ');
      return { success: opened.applied || isStored, message, disabled_modules: [...DISABLED_MODULES] };
    },

    /** Ends the attempts to store; the note is there for the next process. */
    async stop(): Promise<void> {
      isStopped = true;
      note.close();
    },
  };
};
export type Reset = ReturnType<typeof createReset>;
