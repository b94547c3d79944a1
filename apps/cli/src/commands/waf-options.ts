/** Findings do not fail a check, errors do; `--strict` makes both fail. */
export const FOUND_SOMETHING = 2;

export type CheckOptions = {
  readonly json?: boolean;
  readonly strict?: boolean;
};

export type ExplainOptions = {
  readonly rules?: readonly string[];
  readonly request: string;
  readonly client: string;
  readonly paranoia?: string;
  readonly baseline: boolean;
  readonly all?: boolean;
  readonly rule?: string;
  readonly json?: boolean;
};
