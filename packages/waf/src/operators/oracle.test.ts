import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { oracleFolder } from '../../../../test/support/ftw/oracle-folder.ts';
import { oracleBytes, oracleCases } from '../../test/support/oracle-cases.ts';
import { type OperatorContext, type OperatorEnv, OperatorError } from './operator.ts';
import { compileOperator } from './registry.ts';

const env: OperatorEnv = { readFile: (path) => readFileSync(join(oracleFolder, 'coraza/operators/op', path)) };
const context = (): OperatorContext => ({
  wantsCapture: true,
  budget: { units: 1_000_000, exceeded: false },
  capture: () => {},
  geo: () => {},
});

/** Files of operators that are not compiled here, and why. */
const ELSEWHERE: Record<string, string> = {
  rx: 'patterns are tested with the regex engine',
  validateSchema: "Coraza reads JSON Schema; ModSecurity's operator is XML Schema, which is refused at load",
};

/** file/index: what we answer instead, and why. */
const DISPUTES: Record<string, { verdict: boolean | 'refused'; reason: string }> = {
  'ipMatch/16': {
    verdict: 'refused',
    reason: 'Coraza skips 10.0.0.0/100; a block that does not parse protects nothing, so it is refused at load',
  },
};

const verdict = (name: string, argument: string, input: Uint8Array): boolean | 'refused' => {
  try {
    return compileOperator(name, argument, env).match(input, 0, input.length, context());
  } catch (error) {
    if (error instanceof OperatorError) return 'refused';
    throw error;
  }
};

const files = oracleCases('coraza/operators');
const total = [...files.values()].reduce((sum, cases) => sum + cases.length, 0);
const missing = total === 0 ? ' (none run: there is no ../shared/waf-oracles beside the repository)' : '';

test.skipIf(total === 0)(`${total} of 3,934 operator cases of Coraza are at hand${missing}`, () => {
  expect(total).toBe(3934);
});

describe.skipIf(files.size === 0)("Coraza's operator cases", () => {
  for (const [file, cases] of files) {
    test.skipIf(file in ELSEWHERE)(`${file}: ${cases.length} cases ${ELSEWHERE[file] ?? ''}`, () => {
      const wrong: string[] = [];
      for (const [index, oracle] of cases.entries()) {
        const dispute = DISPUTES[`${file}/${index}`];
        const argument = Buffer.from(oracleBytes(oracle.param ?? '')).toString('latin1');
        const actual = verdict(oracle.name, argument, oracleBytes(oracle.input));
        if (actual !== (dispute ? dispute.verdict : oracle.ret === 1)) {
          wrong.push(`${file}/${index} @${oracle.name} ${argument} on ${oracle.input}: ${actual}`);
        }
      }
      expect(wrong).toEqual([]);
    });
  }
});
