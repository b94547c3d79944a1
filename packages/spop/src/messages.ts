import type { ByteReader } from './byte-reader.ts';
import type { NameCache } from './name-cache.ts';
import { ProtocolError, Status } from './status.ts';
import { type DataType, readTypedData, type TypedData } from './typed-data.ts';

const ipv6Text = (bytes: Uint8Array): string => {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push(((bytes[i]! << 8) | bytes[i + 1]!).toString(16));
  return groups.join(':');
};

/**
 * One argument of a message. Nothing is copied: `source[start..end)` and `bytes` are the receive buffer itself.
 * That memory is never written again, so it may be kept, but keeping it keeps the whole chunk that was read (up to 64 KiB).
 */
export class Argument implements TypedData {
  /** The name in the SPOE configuration; empty when the configuration gives none. */
  readonly name: string;
  readonly source: Uint8Array;
  type: DataType = 'null';
  /** The value of a boolean or an integer (a bigint only past 2^53-1); null for every other type. */
  scalar: null | boolean | number | bigint = null;
  start = 0;
  end = 0;

  constructor(name: string, source: Uint8Array) {
    this.name = name;
    this.source = source;
  }

  /** HAProxy had no value for the sample. */
  get isNull(): boolean {
    return this.type === 'null';
  }

  /** The bytes of a string, binary, ipv4 (4) or ipv6 (16) as a view; empty for every other type. */
  get bytes(): Uint8Array {
    if (this.type === 'null' || this.scalar !== null) return new Uint8Array(0);
    return new Uint8Array(this.source.buffer, this.source.byteOffset + this.start, this.end - this.start);
  }

  /** The bytes decoded; by default one character for each byte, which loses nothing. */
  text(encoding: 'latin1' | 'utf8' = 'latin1'): string {
    const { source } = this;
    return Buffer.from(source.buffer, source.byteOffset + this.start, this.end - this.start).toString(encoding);
  }

  /** An ipv4 in dotted form, an ipv6 as eight groups (not shortened); undefined for every other type. */
  get address(): string | undefined {
    if (this.type === 'ipv4') return this.bytes.join('.');
    return this.type === 'ipv6' ? ipv6Text(this.bytes) : undefined;
  }
}

/** One SPOE message of a NOTIFY, its arguments in the order of the SPOE configuration. */
export class Message {
  readonly name: string;
  readonly args: readonly Argument[];

  constructor(name: string, args: readonly Argument[]) {
    this.name = name;
    this.args = args;
  }

  /** The first argument of that name. */
  get(name: string): Argument | undefined {
    for (const argument of this.args) if (argument.name === name) return argument;
    return undefined;
  }
}

/** Reads a LIST-OF-MESSAGES to the end of the frame. Throws ProtocolError when malformed or beyond the limits. */
export const readMessages = (
  reader: ByteReader,
  name: NameCache,
  limits: { maxMessages: number; maxArguments: number },
): Message[] => {
  const messages: Message[] = [];
  while (reader.position < reader.end) {
    if (messages.length >= limits.maxMessages) throw new ProtocolError(Status.invalidFrame, 'too many messages');
    const length = reader.varint();
    if (length === 0) throw new ProtocolError(Status.invalidFrame, 'message without a name');
    const start = reader.skip(length);
    const messageName = name(reader.bytes, start, start + length);
    const count = reader.byte();
    if (count > limits.maxArguments) throw new ProtocolError(Status.invalidFrame, 'too many arguments');
    const args: Argument[] = [];
    for (let i = 0; i < count; i++) {
      const size = reader.varint();
      const at = reader.skip(size);
      const argument = new Argument(name(reader.bytes, at, at + size), reader.bytes);
      readTypedData(reader, argument);
      args.push(argument);
    }
    messages.push(new Message(messageName, args));
  }
  return messages;
};
