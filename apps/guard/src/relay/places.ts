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
const LOOK_EVERY_MS = 1_000;
const ADVANCE_BYTES = 32_768;

/** The client sends or takes too little. */
export class TooSlow extends Error {
  override name = 'TooSlow';
}

/** The client has its share of places, and uses all of them. */
export class TooMany extends Error {
  override name = 'TooMany';
}

/** All places are in use by those who use them. */
export class NoPlace extends Error {
  override name = 'NoPlace';
}

/** One request's place, from its headers to the end of its answer. */
export interface Place {
  /** Aborted with TooSlow when the place is taken away. */
  readonly signal: AbortSignal;
  /** The body is read from here on. */
  receive(): void;
  /** So many bytes have come or gone. */
  flowed(bytes: number): void;
  /** Nothing is waited for from the client. */
  rest(): void;
  /** The answer goes out from here on; `isStalled` tells whether the client has yet to take what was sent. */
  send(isStalled: () => boolean): void;
  leave(): void;
}

interface Occupant {
  client: string;
  abort: AbortController;
  phase: 'resting' | 'receiving' | 'sending';
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
 * Places for requests in the relay. Who makes no progress loses theirs; when places are wanting, the slowest upload of the
 * client with the most of them gives way, so that nobody can hold what others need.
 */
export const createPlaces = ({ total, share, now }: PlacesOptions) => {
  const occupants = new Set<Occupant>();
  const byClient = new Map<string, Set<Occupant>>();

  const remove = (occupant: Occupant): void => {
    if (!occupants.delete(occupant)) return;
    const own = byClient.get(occupant.client);
    own?.delete(occupant);
    if (own?.size === 0) byClient.delete(occupant.client);
  };

  const dismiss = (occupant: Occupant, reason: string): void => {
    remove(occupant);
    occupant.abort.abort(new TooSlow(reason));
  };

  /** Bytes a second, with an advance for who has just come. */
  const rate = ({ bytes, since }: Occupant): number => (bytes + ADVANCE_BYTES) / (now() - since + 1_000);

  /** Whom the relay waits for: the slowest of the client that has most places. */
  const leastUseful = (among: Iterable<Occupant>): Occupant | undefined => {
    let found: Occupant | undefined;
    let foundOwn = 0;
    for (const occupant of among) {
      if (!isWaitedFor(occupant)) continue;
      const own = byClient.get(occupant.client)?.size ?? 0;
      if (found && (own < foundOwn || (own === foundOwn && rate(occupant) >= rate(found)))) continue;
      found = occupant;
      foundOwn = own;
    }
    return found;
  };

  const makeRoom = (client: string): void => {
    const own = byClient.get(client);
    if (own && own.size >= share) {
      const victim = leastUseful(own);
      if (!victim) throw new TooMany('the client has its share of places');
      dismiss(victim, 'its client wants the place for another request');
    }
    if (occupants.size < total) return;
    const victim = leastUseful(occupants);
    if (!victim) throw new NoPlace('all places are in use');
    dismiss(victim, 'others want the place');
  };

  let lookedAt = now();
  const timer = setInterval(() => {
    const passed = (now() - lookedAt) / 1_000;
    lookedAt = now();
    for (const occupant of occupants) {
      const { phase, since } = occupant;
      if (phase === 'receiving' && now() - since > DEADLINE_S * 1_000) dismiss(occupant, 'the upload took too long');
      else if (isWaitedFor(occupant)) {
        occupant.patience -= passed;
        if (occupant.patience < 0) dismiss(occupant, 'too little came or was taken');
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
