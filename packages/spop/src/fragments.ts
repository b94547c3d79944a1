import { ByteReader } from './byte-reader.ts';
import { FLAG_ABORT, FLAG_FIN, type Frame } from './frame.ts';
import { ProtocolError, Status } from './status.ts';

/** What became of a frame: the payload when whole, `wait` for more, `drop` when given up, `refuse` when just grown too big. */
export type Fragment = ByteReader | 'wait' | 'drop' | 'refuse';

/** Puts fragmented NOTIFYs of one connection together (HAProxy up to 3.0; SPOP allows one at a time). */
export type Reassembly = {
  /** Takes a NOTIFY or UNSET frame. Throws ProtocolError when fragments are not allowed, interlaced or without a beginning. */
  take(frame: Frame, isContinuation: boolean): Fragment;
  readonly isOpen: boolean;
};

const FRAGMENT_COST = 128;

/** Makes a reassembly that holds at most `maxSize` bytes; 0 refuses every fragment. */
export const createReassembly = (maxSize: number): Reassembly => {
  let current: { streamId: number; frameId: number; parts: Uint8Array[]; size: number } | null = null;
  // HAProxy may have sent more of a payload before it reads that it was refused.
  let refused: { streamId: number; frameId: number } | null = null;

  const isOf = (frame: Frame, other: { streamId: number; frameId: number }) =>
    frame.streamId === other.streamId && frame.frameId === other.frameId;

  const take = (frame: Frame, isContinuation: boolean): Fragment => {
    const isFinal = (frame.flags & FLAG_FIN) !== 0;
    const isAborted = (frame.flags & FLAG_ABORT) !== 0;
    if (isContinuation && current === null) {
      if (refused === null || !isOf(frame, refused)) {
        throw new ProtocolError(Status.frameIdNotFound, 'fragment without a beginning');
      }
      if (isFinal) refused = null;
      return 'drop';
    }
    if (current !== null && !(isContinuation && isOf(frame, current))) {
      throw new ProtocolError(Status.interlacedFrames, 'frame between the fragments of another');
    }
    if (current === null) {
      refused = null;
      if (isFinal) return frame.payload;
      if (maxSize === 0) {
        throw new ProtocolError(Status.fragmentationNotSupported, 'fragmentation was not announced');
      }
      current = { streamId: frame.streamId, frameId: frame.frameId, parts: [], size: 0 };
    }
    if (isAborted) {
      current = null;
      return 'drop';
    }
    const { bytes, position, end } = frame.payload;
    // Even an empty fragment costs memory, so each is charged for what holding it takes.
    current.size += Math.max(end - position, FRAGMENT_COST);
    if (current.size > maxSize) {
      if (!isFinal) refused = { streamId: frame.streamId, frameId: frame.frameId };
      current = null;
      return 'refuse';
    }
    // A copy, because fragments would keep all the chunks alive that they came in.
    current.parts.push(new Uint8Array(bytes.subarray(position, end)));
    if (!isFinal) return 'wait';
    const whole = Buffer.concat(current.parts);
    current = null;
    return new ByteReader(whole, 0, whole.length);
  };

  return {
    take,
    get isOpen() {
      return current !== null;
    },
  };
};
