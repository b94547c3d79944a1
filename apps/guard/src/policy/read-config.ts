import { readFileSync } from 'node:fs';
import { GuardConfig } from '@sallyport/contract';
import { Compile } from 'typebox/compile';

const schema = Compile(GuardConfig);

/** Reads the configuration that the server has written. Throws when there is none or it is not of this form. */
export const readGuardConfig = (path: string): GuardConfig => {
  const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (schema.Check(value)) return value;
  const [problem] = schema.Errors(value);
  throw new Error(`${path} is not a guard configuration: ${problem?.instancePath ?? ''} ${problem?.message ?? ''}`);
};
