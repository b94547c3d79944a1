import { ByteWriter } from './byte-writer.ts';
import { beginFrame, endFrame, type Frame, FrameType } from './frame.ts';
import { readKeyValues } from './key-values.ts';
import { Status } from './status.ts';

/** Why a connection ended, as the side that ended it put it. */
export type Disconnect = { status: number; message: string };

// HAProxy takes a longer reason for a malformed frame.
const MAX_REASON_LENGTH = 255;

/** Reads the payload of a HAPROXY-DISCONNECT; a missing item reads as status 99 and an empty message. Throws ProtocolError. */
export const readDisconnect = (frame: Frame): Disconnect => {
  const items = readKeyValues(frame.payload);
  const status = items.get('status-code');
  const message = items.get('message');
  return {
    status: typeof status === 'number' ? status : Status.unknown,
    message: typeof message === 'string' ? message.slice(0, MAX_REASON_LENGTH) : '',
  };
};

/** Encodes an AGENT-DISCONNECT with its length prefix; the message is cut to 255 ASCII characters. */
export const encodeDisconnect = ({ status, message }: Disconnect): Buffer => {
  const writer = new ByteWriter(320);
  const at = beginFrame(writer, FrameType.agentDisconnect, 0, 0);
  writer.text('status-code');
  writer.byte(3);
  writer.varint(status);
  writer.text('message');
  writer.byte(8);
  writer.text(message.replace(/[^\x20-\x7e]/g, '?').slice(0, MAX_REASON_LENGTH));
  endFrame(writer, at);
  return writer.bytes.subarray(0, writer.length);
};
