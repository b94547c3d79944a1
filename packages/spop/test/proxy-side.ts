import { connect } from 'node:net';
import type { ByteReader } from '../src/byte-reader.ts';
import { ByteWriter } from '../src/byte-writer.ts';
import { beginFrame, endFrame, FrameType, readFrame } from '../src/frame.ts';
import { readKeyValues } from '../src/key-values.ts';
import { readTypedData, type TypedData } from '../src/typed-data.ts';

/** Typed data as HAProxy would send it, any type at will. */
export type WireValue =
  | { type: 'null' }
  | { type: 'boolean'; value: boolean }
  | { type: 'int32' | 'uint32' | 'int64' | 'uint64'; value: bigint }
  | { type: 'ipv4' | 'ipv6' | 'string' | 'binary'; bytes: Uint8Array };

export type WireMessage = { name: string; args: { name: string; value: WireValue }[] };

const TYPE_NUMBER = {
  null: 0,
  boolean: 1,
  int32: 2,
  uint32: 3,
  int64: 4,
  uint64: 5,
  ipv4: 6,
  ipv6: 7,
  string: 8,
  binary: 9,
};

export const writeWireValue = (writer: ByteWriter, value: WireValue) => {
  const type = TYPE_NUMBER[value.type];
  if (value.type === 'boolean') writer.byte(type | (value.value ? 0x10 : 0));
  else {
    writer.byte(type);
    if ('value' in value) writer.bigVarint(BigInt.asUintN(64, value.value));
    else if ('bytes' in value) {
      if (value.type === 'string' || value.type === 'binary') writer.prefixed(value.bytes);
      else writer.raw(value.bytes);
    }
  }
};

const take = (writer: ByteWriter) => Buffer.from(writer.bytes.subarray(0, writer.length));

/** A frame with any payload and any flags, with its length prefix. */
export const frame = (type: number, payload: Uint8Array, ids = { streamId: 0, frameId: 0 }, flags = 1): Buffer => {
  const writer = new ByteWriter();
  const at = beginFrame(writer, type, ids.streamId, ids.frameId);
  writer.bytes.writeUInt32BE(flags, at + 5);
  writer.raw(payload);
  endFrame(writer, at);
  return take(writer);
};

export const keyValues = (items: Record<string, WireValue>): Buffer => {
  const writer = new ByteWriter();
  for (const [name, value] of Object.entries(items)) {
    writer.text(name);
    writeWireValue(writer, value);
  }
  return take(writer);
};

export const string = (text: string): WireValue => ({ type: 'string', bytes: Buffer.from(text) });

export const HELLO_ITEMS: Record<string, WireValue> = {
  'supported-versions': string('2.0'),
  'max-frame-size': { type: 'uint32', value: 16380n },
  capabilities: string('pipelining,async'),
  'engine-id': string('0b3f-engine'),
};

export const hello = (changes: Record<string, WireValue> = {}, flags = 1): Buffer =>
  frame(FrameType.haproxyHello, keyValues({ ...HELLO_ITEMS, ...changes }), { streamId: 0, frameId: 0 }, flags);

export const messageList = (messages: WireMessage[]): Buffer => {
  const writer = new ByteWriter();
  for (const { name, args } of messages) {
    writer.text(name);
    writer.byte(args.length);
    for (const argument of args) {
      writer.text(argument.name);
      writeWireValue(writer, argument.value);
    }
  }
  return take(writer);
};

export const notify = (streamId: number, frameId: number, messages: WireMessage[]): Buffer =>
  frame(FrameType.notify, messageList(messages), { streamId, frameId });

export type AgentFrame =
  | { type: 'hello'; items: Map<string, unknown> }
  | { type: 'disconnect'; status: number; message: string }
  | { type: 'ack'; streamId: number; frameId: number; flags: number; actions: DecodedAction[] };

export type DecodedAction = { type: number; scope: number; name: string; value?: unknown };

const readActions = (reader: ByteReader): DecodedAction[] => {
  const actions: DecodedAction[] = [];
  while (reader.position < reader.end) {
    const type = reader.byte();
    const count = reader.byte();
    const scope = reader.byte();
    const length = reader.varint();
    const start = reader.skip(length);
    const name = Buffer.from(reader.bytes.subarray(start, start + length)).toString();
    if (count === 2) actions.push({ type, scope, name });
    else {
      const data: TypedData = { type: 'null', scalar: null, start: 0, end: 0 };
      readTypedData(reader, data);
      const bytes = Buffer.from(reader.bytes.subarray(data.start, data.end));
      actions.push({ type, scope, name, value: data.scalar ?? (data.type === 'string' ? bytes.toString() : bytes) });
    }
  }
  return actions;
};

/** Decodes whole frames of the agent; what follows the last whole one is given back as `rest`. */
export const readAgentFrames = (bytes: Buffer): { frames: AgentFrame[]; rest: Buffer } => {
  const frames: AgentFrame[] = [];
  let at = 0;
  while (bytes.length - at >= 4) {
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    const { type, flags, streamId, frameId, payload } = readFrame(bytes, at + 4, end);
    at = end;
    if (type === FrameType.ack) frames.push({ type: 'ack', streamId, frameId, flags, actions: readActions(payload) });
    else if (type === FrameType.agentHello) frames.push({ type: 'hello', items: readKeyValues(payload) });
    else if (type === FrameType.agentDisconnect) {
      const items = readKeyValues(payload);
      frames.push({
        type: 'disconnect',
        status: Number(items.get('status-code')),
        message: String(items.get('message')),
      });
    } else throw new Error(`the agent sent a frame of type ${type}`);
  }
  return { frames, rest: bytes.subarray(at) };
};

/** A raw connection to an agent, to say what a real HAProxy never would. */
export const connectRaw = async (where: { path: string } | { port: number; host: string }) => {
  const socket = connect(where);
  let rest: Buffer = Buffer.alloc(0);
  const frames: AgentFrame[] = [];
  let wake = () => {};
  let isEnded = false;
  socket.on('data', (chunk) => {
    const decoded = readAgentFrames(Buffer.concat([rest, chunk]));
    rest = decoded.rest;
    frames.push(...decoded.frames);
    wake();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isEnded = true;
    wake();
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  return {
    socket,
    frames,
    send: (...parts: Uint8Array[]) => socket.write(Buffer.concat(parts)),
    /** Resolves with all frames once there are `count` of them; rejects when the agent closes before. */
    async until(count: number): Promise<AgentFrame[]> {
      while (frames.length < count) {
        if (isEnded) throw new Error(`closed after ${frames.length} of ${count} frames`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return frames;
    },
    /** Resolves with all frames once the agent has closed. */
    async untilClosed(): Promise<AgentFrame[]> {
      while (!isEnded) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return frames;
    },
  };
};
