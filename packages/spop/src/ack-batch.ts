import { writeActions } from './actions.ts';
import { ByteWriter } from './byte-writer.ts';
import { beginFrame, endFrame, FLAG_ABORT, FLAG_FIN, FrameType } from './frame.ts';
import type { Actions } from './handler.ts';

/** The ACKs that wait to be written together. */
export type AckBatch = {
  /**
   * Adds an ACK of at most `maxFrameSize` bytes. When the actions can't be encoded or don't fit, the ACK carries none
   * and the reason is given back: HAProxy must get an answer in any case.
   */
  add(streamId: number, frameId: number, actions: Actions, maxFrameSize: number): unknown;
  /** Adds an ACK that tells HAProxy to give up sending the fragments of this payload. */
  abort(streamId: number, frameId: number): void;
  /** Gives all ACKs as bytes that are the caller's to keep, and starts anew. */
  take(): Buffer;
  readonly isEmpty: boolean;
};

/** Makes an empty batch. */
export const createAckBatch = (): AckBatch => {
  const out = new ByteWriter(1024);
  return {
    add(streamId, frameId, actions, maxFrameSize) {
      const at = beginFrame(out, FrameType.ack, streamId, frameId);
      const payloadAt = out.length;
      let failure: unknown;
      try {
        writeActions(out, actions);
        if (out.length - at - 4 > maxFrameSize) throw new RangeError('actions exceed max-frame-size');
      } catch (error) {
        out.length = payloadAt;
        failure = error;
      }
      endFrame(out, at);
      return failure;
    },
    abort(streamId, frameId) {
      const at = beginFrame(out, FrameType.ack, streamId, frameId);
      out.bytes.writeUInt32BE(FLAG_FIN | FLAG_ABORT, at + 5);
      endFrame(out, at);
    },
    take() {
      // Copied out, because a write may end after `out` is used again.
      const bytes = Buffer.allocUnsafe(out.length);
      out.bytes.copy(bytes, 0, 0, out.length);
      out.length = 0;
      return bytes;
    },
    get isEmpty() {
      return out.length === 0;
    },
  };
};
