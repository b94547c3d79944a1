import { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** SPOP's frame types (doc/SPOE.txt 3.2.2); `unset` continues a fragmented payload and exists up to HAProxy 3.0. */
export const FrameType = {
  unset: 0,
  haproxyHello: 1,
  haproxyDisconnect: 2,
  notify: 3,
  agentHello: 101,
  agentDisconnect: 102,
  ack: 103,
} as const;

export const FLAG_FIN = 1;
export const FLAG_ABORT = 2;

/** The smallest frame: type, flags and two identifiers of one byte each. */
export const MIN_FRAME_LENGTH = 7;

/** The smallest max-frame-size that a peer may announce. */
export const MIN_MAX_FRAME_SIZE = 256;

/** A frame's head; `payload` reads from the first byte after it to the frame's end. */
export type Frame = { type: number; flags: number; streamId: number; frameId: number; payload: ByteReader };

/** Reads the head of the frame in `bytes[start..end)` (without its length prefix). Throws ProtocolError. */
export const readFrame = (bytes: Uint8Array, start: number, end: number): Frame => {
  const payload = new ByteReader(bytes, start, end);
  const type = payload.byte();
  const flags = payload.uint32();
  const streamId = payload.varint();
  return { type, flags, streamId, frameId: payload.varint(), payload };
};

/** Starts an unfragmented frame with room for its length; gives the offset to hand to `endFrame`. */
export const beginFrame = (writer: ByteWriter, type: number, streamId: number, frameId: number): number => {
  const at = writer.length;
  writer.uint32(0);
  writer.byte(type);
  writer.uint32(FLAG_FIN);
  writer.varint(streamId);
  writer.varint(frameId);
  return at;
};

/** Fills in the length of the frame begun at `at` and gives it (without the prefix's four bytes). */
export const endFrame = (writer: ByteWriter, at: number): number => {
  const length = writer.length - at - 4;
  writer.bytes.writeUInt32BE(length, at);
  return length;
};
