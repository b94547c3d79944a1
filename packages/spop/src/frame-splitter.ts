import { MIN_FRAME_LENGTH } from './frame.ts';
import { ProtocolError, Status } from './status.ts';

/** Cuts a byte stream into frames. Holds at most one chunk that was not yet used and one frame that is not yet whole. */
export type FrameSplitter = {
  /** Takes the next chunk and hands on every whole frame; throws ProtocolError on a bad length. */
  push(chunk: Buffer): void;
  /** Goes on with what was held back while `isHalted` said so. */
  resume(): void;
  /** Part of a frame, or a chunk that waits for `resume`, is held. */
  readonly isHolding: boolean;
};

/** What a splitter works for: `maxLength` and `isHalted` are asked before each frame. */
export type FrameSink = {
  maxLength(): number;
  isHalted(): boolean;
  /** A whole frame without its length prefix. The memory is never written again. */
  onFrame(bytes: Buffer, start: number, end: number): void;
};

/** Makes a splitter. Frames within one chunk are handed on in place; only one that straddles chunks is copied. */
export const createFrameSplitter = ({ maxLength, isHalted, onFrame }: FrameSink): FrameSplitter => {
  const prefix = Buffer.alloc(4);
  let prefixLength = 0;
  let partial: Buffer | null = null;
  let partialLength = 0;
  let held: Buffer[] = [];
  let isRunning = false;

  const checked = (length: number): number => {
    if (length > maxLength()) throw new ProtocolError(Status.frameTooBig, 'frame exceeds max-frame-size');
    if (length < MIN_FRAME_LENGTH) throw new ProtocolError(Status.invalidFrame, 'frame is too short');
    return length;
  };

  /** Adds to the frame that straddles chunks; gives the offset of the first byte not used. */
  const complete = (chunk: Buffer): number => {
    let at = 0;
    if (partial === null) {
      while (prefixLength < 4 && at < chunk.length) prefix[prefixLength++] = chunk[at++]!;
      if (prefixLength < 4) return at;
      partial = Buffer.allocUnsafeSlow(checked(prefix.readUInt32BE(0)));
    }
    const count = Math.min(partial.length - partialLength, chunk.length - at);
    chunk.copy(partial, partialLength, at, at + count);
    partialLength += count;
    if (partialLength < partial.length) return at + count;
    const whole = partial;
    partial = null;
    partialLength = prefixLength = 0;
    onFrame(whole, 0, whole.length);
    return at + count;
  };

  /** Hands on the frames of one chunk; gives what is left because of a halt, or null. */
  const split = (chunk: Buffer): Buffer | null => {
    let at = prefixLength > 0 ? complete(chunk) : 0;
    while (at < chunk.length) {
      if (isHalted()) return chunk.subarray(at);
      if (chunk.length - at >= 4) {
        const end = at + 4 + checked(chunk.readUInt32BE(at));
        if (end <= chunk.length) {
          onFrame(chunk, at + 4, end);
          at = end;
          continue;
        }
      }
      complete(chunk.subarray(at));
      break;
    }
    return null;
  };

  const run = () => {
    // A handler's answer may end a halt from within onFrame; the loop that runs then goes on by itself.
    if (isRunning) return;
    isRunning = true;
    try {
      while (held.length > 0 && !isHalted()) {
        const rest = split(held.shift()!);
        if (rest !== null) held.unshift(rest);
      }
    } catch (error) {
      held = [];
      throw error;
    } finally {
      isRunning = false;
    }
  };

  return {
    push(chunk) {
      held.push(chunk);
      run();
    },
    resume: run,
    get isHolding() {
      return held.length > 0 || prefixLength > 0;
    },
  };
};
