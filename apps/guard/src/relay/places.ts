import { BrokenAnswer } from './no-answer.ts';

/** What an upload has to bring on average, bytes per second, and what may pass without any of it, seconds. */
const LEAST_RATE = 500;
const PATIENCE_S = { first: 30, most: 60 } as const;
/** However steadily it flows, an upload is over by then. */
const DEADLINE_S = 2 * 3_600;
/**
 * How long a client may take nothing of an answer. Buffers on the way take what a slow line needs minutes for, and HAProxy
 * itself ends who takes nothing for a minute.
 */
const STALL_S = 300;
/** How long an origin may take for its answer, and this to go out, while others want the place. Otherwise HAProxy decides: 300 s. */
const ORIGIN_S = 30;
const LOOK_EVERY_MS = 1_000;
const ADVANCE_BYTES = 32_768;

/** The client sends or takes too little. */
export class TooSlow extends Error {
  override name = 'TooSlow';
}

/** The client has its share of places, or of those that are left, and uses all of them. */
export class TooMany extends Error {
  override name = 'TooMany';
}

/** All places are in use by those who use them. */
export class NoPlace extends Error {
  override name = 'NoPlace';
}

/** One request's place, from its headers to the end of its answer. */
export interface Place {
  /** Aborted when the place is taken away: with TooSlow, or BrokenAnswer when it is the origin that was too slow. */
  readonly signal: AbortSignal;
  /** The body is read from here on. */
  receive(): void;
  /** So many bytes have come or gone. */
  flowed(bytes: number): void;
  /** Nothing is waited for but us. */
  rest(): void;
  /** The origin is waited for. */
  wait(): void;
  /** The answer goes out from here on; `isStalled` tells whether the client has yet to take what was sent. */
  send(isStalled: () => boolean): void;
  leave(): void;
}

interface Occupant {
  client: string;
  abort: AbortController;
  phase: 'resting' | 'receiving' | 'waiting' | 'sending';
  isStalled: () => boolean;
  /** Seconds that may still pass without progress. */
  patience: number;
  bytes: number;
  since: number;
}

export interface PlacesOptions {
  /** Places in all, and of one client. */
  total: number;
  share: number;
  /** Monotonic, milliseconds. */
  now: () => number;
}

const isWaitedFor = ({ phase, isStalled }: Occupant): boolean =>
  phase === 'receiving' || (phase === 'sending' && isStalled());

/**
 * Places for requests in the relay. Who makes no progress loses theirs. A client gets no more of them than are left. When
 * there are none for it, who has as many or more gives way: the slowest upload, then the request that waits longest for an
 * origin, then the answer without an end (a tunnel, a stream of events) that goes on longest. So nobody can hold what others need.
 */
export const createPlaces = ({ total, share, now }: PlacesOptions) => {
  const occupants = new Set<Occupant>();
  const byClient = new Map<string, Set<Occupant>>();

  const placesOf = (client: string): number => byClient.get(client)?.size ?? 0;

  const remove = (occupant: Occupant): void => {
    if (!occupants.delete(occupant)) return;
    const own = byClient.get(occupant.client);
    own?.delete(occupant);
    if (own?.size === 0) byClient.delete(occupant.client);
  };

  const dismiss = (occupant: Occupant, reason: TooSlow | BrokenAnswer): void => {
    remove(occupant);
    occupant.abort.abort(reason);
  };

  /** Bytes a second, with an advance for who has just come. */
  const rate = ({ bytes, since }: Occupant): number => (bytes + ADVANCE_BYTES) / (now() - since + 1_000);

  /** Whom the relay waits for: the slowest of the client that has most places. */
  const leastUseful = (among: Iterable<Occupant>): Occupant | undefined => {
    let found: Occupant | undefined;
    let foundOwn = 0;
    for (const occupant of among) {
      if (!isWaitedFor(occupant)) continue;
      const own = placesOf(occupant.client);
      if (found && (own < foundOwn || (own === foundOwn && rate(occupant) >= rate(found)))) continue;
      found = occupant;
      foundOwn = own;
    }
    return found;
  };

  /** Of the client that has most places, the one that is longest in this phase, of those that have had their time. */
  const longest = (wanted: 'waiting' | 'sending'): Occupant | undefined => {
    let found: Occupant | undefined;
    for (const occupant of occupants) {
      const { phase, since, client } = occupant;
      if (phase !== wanted || now() - since < ORIGIN_S * 1_000) continue;
      const more = found ? placesOf(client) - placesOf(found.client) : 1;
      if (more > 0 || (more === 0 && found && since < found.since)) found = occupant;
    }
    return found;
  };

  const makeRoom = (client: string): void => {
    const own = placesOf(client);
    if (own >= share) {
      const victim = leastUseful(byClient.get(client) ?? []);
      if (!victim) throw new TooMany('the client has its share of places');
      dismiss(victim, new TooSlow('its client wants the place for another request'));
      return;
    }
    // Nobody may have more than what is left to others: several that take all they can get leave something to a new one.
    if (own < total - occupants.size) return;
    const slow = leastUseful(occupants);
    if (slow && placesOf(slow.client) >= own) {
      dismiss(slow, new TooSlow('others want the place'));
      return;
    }
    const overdue = longest('waiting');
    if (overdue && placesOf(overdue.client) > own) {
      dismiss(overdue, new BrokenAnswer('the origin has taken too long, and others want the place'));
      return;
    }
    const endless = longest('sending');
    // Who has one keeps it: it may be all that somebody does.
    if (endless && placesOf(endless.client) > own + 1) {
      dismiss(endless, new BrokenAnswer('the answer has taken too long, and others want the place'));
      return;
    }
    if (own > 0) throw new TooMany('the client has as many places as are left to others');
    throw new NoPlace('all places are in use');
  };

  let lookedAt = now();
  const timer = setInterval(() => {
    const passed = (now() - lookedAt) / 1_000;
    lookedAt = now();
    for (const occupant of occupants) {
      const { phase, since } = occupant;
      if (phase === 'receiving' && now() - since > DEADLINE_S * 1_000)
        dismiss(occupant, new TooSlow('the upload took too long'));
      else if (isWaitedFor(occupant)) {
        occupant.patience -= passed;
        if (occupant.patience < 0) dismiss(occupant, new TooSlow('too little came or was taken'));
      }
    }
  }, LOOK_EVERY_MS);

  return {
    /** Throws TooMany or NoPlace. */
    enter(client: string): Place {
      makeRoom(client);
      const occupant: Occupant = {
        client,
        abort: new AbortController(),
        phase: 'resting',
        isStalled: () => false,
        patience: PATIENCE_S.first,
        bytes: 0,
        since: now(),
      };
      occupants.add(occupant);
      const own = byClient.get(client);
      if (own) own.add(occupant);
      else byClient.set(client, new Set([occupant]));
      return {
        signal: occupant.abort.signal,
        receive() {
          occupant.phase = 'receiving';
          occupant.since = now();
        },
        flowed(bytes) {
          occupant.bytes += bytes;
          if (occupant.phase === 'sending') occupant.patience = STALL_S;
          else occupant.patience = Math.min(PATIENCE_S.most, occupant.patience + bytes / LEAST_RATE);
        },
        rest() {
          occupant.phase = 'resting';
        },
        wait() {
          occupant.phase = 'waiting';
          occupant.since = now();
        },
        send(isStalled) {
          occupant.phase = 'sending';
          occupant.isStalled = isStalled;
          occupant.patience = STALL_S;
          occupant.bytes = 0;
          occupant.since = now();
        },
        leave: () => remove(occupant),
      };
    },
    inUse: (): number => occupants.size,
    stop: (): void => clearInterval(timer),
  };
};
export type Places = ReturnType<typeof createPlaces>;
