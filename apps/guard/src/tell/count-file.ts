import { randomUUID } from 'node:crypto';
import { closeSync, constants, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type Counts, readCounts, SLAB_LENGTH } from './counts.ts';

/** Threads that may count at the same time; slot 0 holds what ended threads have counted. */
export const SLOTS = 64;
const HEADER_BYTES = 64;
const SLOT_BYTES = SLAB_LENGTH * Float64Array.BYTES_PER_ELEMENT;

const bytesOf = (slab: Float64Array): Uint8Array => new Uint8Array(slab.buffer, slab.byteOffset, slab.byteLength);

/** Does what needs a disk. A full one must not keep anybody from judging: what was counted is then lost with the process. */
const ifDisk = <T>(write: () => T): T | undefined => {
  try {
    return write();
  } catch {
    return undefined;
  }
};

/** Opens a slot for writing. The page cache keeps what was written when the process is killed. */
export const openSlot = (path: string, slot: number, slab: Float64Array) => {
  const file = ifDisk(() => openSync(path, 'r+'));
  const at = HEADER_BYTES + slot * SLOT_BYTES;
  return {
    save(): void {
      if (file !== undefined) ifDisk(() => writeSync(file, bytesOf(slab), 0, SLOT_BYTES, at));
    },
    close(): void {
      if (file !== undefined) closeSync(file);
    },
  };
};

/** What a worker that has ended had counted; undefined when there is no such file or it is cut short. */
export const readCountFile = (path: string): { instance: string; counts: Counts } | undefined => {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch {
    return undefined;
  }
  if (bytes.length !== HEADER_BYTES + SLOTS * SLOT_BYTES) return undefined;
  const instance = bytes.subarray(0, HEADER_BYTES).toString('latin1').replace(/\0+$/, '');
  const numbers = new Float64Array(SLOTS * SLAB_LENGTH);
  bytesOf(numbers).set(bytes.subarray(HEADER_BYTES));
  const slabs = Array.from({ length: SLOTS }, (_, i) => numbers.subarray(i * SLAB_LENGTH, (i + 1) * SLAB_LENGTH));
  return { instance, counts: readCounts(slabs) };
};

/** Starts counting anew under a new instance: all slots at zero. The slots are shared by the process's threads. */
export const createCountFile = (path: string) => {
  const instance = randomUUID();
  const shared = new SharedArrayBuffer(SLOTS * SLOT_BYTES);
  const slabOf = (slot: number) => new Float64Array(shared, slot * SLOT_BYTES, SLAB_LENGTH);
  const inUse = new Set<number>();
  const write = (): void => {
    const bytes = Buffer.alloc(HEADER_BYTES + SLOTS * SLOT_BYTES);
    bytes.write(instance, 'latin1');
    bytes.set(new Uint8Array(shared), HEADER_BYTES);
    ifDisk(() => {
      // Not truncated first: threads have it open, and nobody may ever see a part.
      const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);
      try {
        writeSync(file, bytes, 0, bytes.length, 0);
        ftruncateSync(file, bytes.length);
      } finally {
        closeSync(file);
      }
    });
  };
  write();
  return {
    instance,
    shared,
    counts: (): Counts => readCounts(Array.from({ length: SLOTS }, (_, slot) => slabOf(slot))),

    /** A free slot, at zero. Throws when there is none. */
    take(): number {
      for (let slot = 1; slot < SLOTS; slot++) {
        if (inUse.has(slot)) continue;
        inUse.add(slot);
        return slot;
      }
      throw new Error('too many threads count at the same time');
    },

    /** Keeps what an ended thread has counted, and frees its slot. */
    release(slot: number): void {
      const total = slabOf(0);
      const slab = slabOf(slot);
      for (let i = 0; i < SLAB_LENGTH; i++) total[i]! += slab[i]!;
      slab.fill(0);
      inUse.delete(slot);
      // In one write, so that whoever reads the file finds nothing twice.
      write();
    },
  };
};

/** One slot of the shared counters, in the thread that owns it. */
export const slabIn = (shared: SharedArrayBuffer, slot: number): Float64Array =>
  new Float64Array(shared, slot * SLOT_BYTES, SLAB_LENGTH);
