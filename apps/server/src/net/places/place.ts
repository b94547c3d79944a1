/** A backup to be copied. */
export interface CopySource {
  path: string;
  /** Bytes. */
  size: number;
  /** Of its bytes, hex. */
  sha256: string;
}

/** Somewhere else that keeps files by name. Each call rejects with an `Error` whose message is fit for an administrator. */
export interface Place {
  /** Has the whole file there under `name`, or nothing new under it. */
  put(name: string, source: CopySource): Promise<void>;
  /** The bytes of a small file that was put there. */
  get(name: string): Promise<Buffer>;
  /** One that is not there is removed already. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

/** So long nothing may arrive or leave before a peer is given up. */
export const IDLE_MS = 30_000;

/** What `get` reads at most. */
export const MOST_READ_BYTES = 65_536;

/** However slowly it goes on, it ends: milliseconds for a transfer of so many bytes. */
export const mostMsFor = (bytes: number): number => 120_000 + Math.ceil(bytes / 20);

/** What every place takes. */
export interface PlaceOptions {
  /** Ends whatever is under way. */
  signal: AbortSignal;
  /** Default `IDLE_MS`. */
  idleMs?: number;
}
