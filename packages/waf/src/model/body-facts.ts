import type { MultipartFlags } from '../body/multipart.ts';

/** What parsing the request body found out, for REQBODY_… and MULTIPART_… variables. */
export type BodyFacts = {
  /** What of the body is inspected. */
  readonly bytes: Uint8Array;
  readonly isParseFailed: boolean;
  readonly error: string;
  readonly multipart: MultipartFlags | null;
  readonly filesCombinedSize: number;
};

export const noBodyFacts: BodyFacts = {
  bytes: new Uint8Array(0),
  isParseFailed: false,
  error: '',
  multipart: null,
  filesCombinedSize: 0,
};
