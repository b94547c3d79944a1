import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** One request of a go-ftw test with what the log must and must not show. */
export type Stage = {
  readonly input: {
    readonly method?: string;
    readonly uri?: string;
    readonly version?: string;
    readonly headers?: Readonly<Record<string, string | number>>;
    readonly data?: string | readonly string[];
    readonly encoded_request?: string;
    readonly raw_request?: string;
    readonly stop_magic?: boolean;
    readonly autocomplete_headers?: boolean;
    readonly port?: number;
  };
  readonly output: {
    readonly status?: number | readonly number[];
    readonly log_contains?: string;
    readonly no_log_contains?: string;
    readonly expect_error?: boolean;
    readonly log?: {
      readonly expect_ids?: readonly number[];
      readonly no_expect_ids?: readonly number[];
      readonly match_regex?: string;
      readonly no_match_regex?: string;
    };
  };
};

export type FtwTest = {
  readonly id: string;
  /** Written for the test runner of CRS 3. */
  readonly isOldDialect: boolean;
  readonly stages: readonly Stage[];
};

type File = {
  readonly rule_id?: number;
  readonly tests?: readonly {
    readonly test_title?: string;
    readonly test_id?: number;
    readonly stages: readonly (Stage & { readonly stage?: Stage })[];
  }[];
};

/** Reads every test of a folder of go-ftw files, in the order of the file names. */
export const readSuite = (folder: string): FtwTest[] => {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name));
  return files.sort().flatMap((name) => {
    const file = parse(readFileSync(join(folder, name), 'utf8')) as File | null;
    return (file?.tests ?? []).map((test) => ({
      isOldDialect: test.test_title !== undefined,
      id: test.test_title ?? `${file!.rule_id}-${test.test_id}`,
      stages: test.stages.map((stage) => stage.stage ?? stage),
    }));
  });
};
