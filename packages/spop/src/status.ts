/** Status codes of SPOP's DISCONNECT frames (doc/SPOE.txt 3.5). */
export const Status = {
  normal: 0,
  ioError: 1,
  timeout: 2,
  frameTooBig: 3,
  invalidFrame: 4,
  noVersion: 5,
  noMaxFrameSize: 6,
  noCapabilities: 7,
  unsupportedVersion: 8,
  badMaxFrameSize: 9,
  fragmentationNotSupported: 10,
  interlacedFrames: 11,
  frameIdNotFound: 12,
  resourceAllocation: 13,
  unknown: 99,
} as const;

/** Why a connection must be given up: `status` is the DISCONNECT code and `message` its reason, both sent to HAProxy. */
export class ProtocolError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ProtocolError';
    this.status = status;
  }
}
