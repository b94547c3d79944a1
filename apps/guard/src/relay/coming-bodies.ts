import { TooSlow } from './places.ts';

/** A body that is being read, and what it takes. */
export interface ComingBody {
  client: string;
  /** Bytes of memory and disk. */
  taken(): number;
  /** Ends its reading with an error; its room is free when `freed` is resolved. */
  end(error: TooSlow): void;
  freed: Promise<void>;
}

interface Upload extends ComingBody {
  since: number;
  isEnded: PromiseWithResolvers<false>;
}

/** Bodies that are still coming in, which give their room to others when there is none. `now`: monotonic, milliseconds. */
export const createComingBodies = (now: () => number) => {
  const uploads = new Set<Upload>();

  const takenBy = (): Map<string, number> => {
    const sums = new Map<string, number>();
    for (const { client, taken } of uploads) sums.set(client, (sums.get(client) ?? 0) + taken());
    return sums;
  };

  /** Bytes a second since it began. */
  const rate = ({ taken, since }: Upload): number => taken() / (now() - since + 1_000);

  /** The slowest of the client that takes most, when that is more than the client of this one takes. */
  const victimFor = (own: Upload): Upload | undefined => {
    const sums = takenBy();
    const of = ({ client }: Upload): number => sums.get(client) ?? 0;
    let found: Upload | undefined;
    for (const upload of uploads) {
      if (of(upload) <= of(own)) continue;
      const more = found ? of(upload) - of(found) : 1;
      if (more > 0 || (more === 0 && found && rate(upload) < rate(found))) found = upload;
    }
    return found;
  };

  return {
    enter(body: ComingBody) {
      const upload: Upload = { ...body, since: now(), isEnded: Promise.withResolvers<false>() };
      uploads.add(upload);
      return {
        /** Ends another's upload and resolves when its room is free; to false when nobody takes more, or this one is to end. */
        makeRoom(): Promise<boolean> {
          const victim = uploads.has(upload) ? victimFor(upload) : undefined;
          if (!victim) return Promise.resolve(false);
          uploads.delete(victim);
          victim.isEnded.resolve(false);
          victim.end(new TooSlow('others want the room of its body'));
          return Promise.race([victim.freed.then(() => true), upload.isEnded.promise]);
        },
        leave: (): void => void uploads.delete(upload),
      };
    },
  };
};
