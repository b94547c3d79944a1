import { readFileSync } from 'node:fs';
import { compileCheck } from '@sallyport/contract/check';
import { GuardConfig } from '@sallyport/contract/guard-config';

const check = compileCheck(GuardConfig);

/** Reads the configuration that the server has written. Throws when there is none or it is not of this form. */
export const readGuardConfig = (path: string): GuardConfig => {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (check.accepts(value)) return value;
  throw new Error(`${path} is not a guard configuration: ${check.problem(value)}`);
};
