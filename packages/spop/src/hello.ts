import { ByteWriter } from './byte-writer.ts';
import { beginFrame, endFrame, type Frame, FrameType, MIN_MAX_FRAME_SIZE } from './frame.ts';
import { readKeyValues } from './key-values.ts';
import { ProtocolError, Status } from './status.ts';

const VERSION = '2.0';

/** What HAProxy says of itself when it opens a connection; `maxFrameSize` in bytes without the length prefix. */
export type HaproxyHello = {
  maxFrameSize: number;
  capabilities: string[];
  engineId: string | null;
  isHealthCheck: boolean;
};

const splitList = (list: string) =>
  list
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Reads the payload of a HAPROXY-HELLO. Throws ProtocolError with the status that the protocol has for each lack. */
export const readHello = (frame: Frame): HaproxyHello => {
  if (frame.streamId !== 0 || frame.frameId !== 0) throw new ProtocolError(Status.invalidFrame, 'hello with an id');
  const items = readKeyValues(frame.payload);

  const versions = items.get('supported-versions');
  if (typeof versions !== 'string') throw new ProtocolError(Status.noVersion, 'hello without supported-versions');
  // A major version implies its minor ones, so any 2.x can speak 2.0.
  if (!splitList(versions).some((version) => /^2\.\d+$/.test(version))) {
    throw new ProtocolError(Status.unsupportedVersion, 'only SPOP 2.0 is spoken here');
  }

  const maxFrameSize = items.get('max-frame-size');
  if (typeof maxFrameSize !== 'number') throw new ProtocolError(Status.noMaxFrameSize, 'hello without max-frame-size');
  if (maxFrameSize < MIN_MAX_FRAME_SIZE) throw new ProtocolError(Status.badMaxFrameSize, 'max-frame-size below 256');

  const capabilities = items.get('capabilities');
  if (typeof capabilities !== 'string') throw new ProtocolError(Status.noCapabilities, 'hello without capabilities');

  const engineId = items.get('engine-id');
  return {
    maxFrameSize,
    capabilities: splitList(capabilities),
    engineId: typeof engineId === 'string' ? engineId : null,
    isHealthCheck: items.get('healthcheck') === true,
  };
};

/** Encodes an AGENT-HELLO with its length prefix. */
export const encodeAgentHello = (maxFrameSize: number, capabilities: readonly string[]): Buffer => {
  const writer = new ByteWriter(128);
  const at = beginFrame(writer, FrameType.agentHello, 0, 0);
  writer.text('version');
  writer.byte(8);
  writer.text(VERSION);
  writer.text('max-frame-size');
  writer.byte(3);
  writer.varint(maxFrameSize);
  writer.text('capabilities');
  writer.byte(8);
  writer.text(capabilities.join(','));
  endFrame(writer, at);
  return writer.bytes.subarray(0, writer.length);
};
