import type { MultipartFlags } from '../body/multipart.ts';

/** What parsing the request body found out, for REQBODY_… and MULTIPART_… variables. */
export type BodyFacts = {
  readonly length: number;
  readonly isParseFailed: boolean;
  readonly error: string;
  readonly multipart: MultipartFlags | null;
  readonly filesCombinedSize: number;
};

export const noBodyFacts: BodyFacts = {
  length: 0,
  isParseFailed: false,
  error: '',
  multipart: null,
  filesCombinedSize: 0,
};
