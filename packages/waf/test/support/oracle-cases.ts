import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { oracleFolder } from '../../../../test/support/ftw/oracle-folder.ts';

/** One case of Coraza's JSON: an input, what the function is given (param) or makes (output), and its verdict. */
export interface OracleCase {
  name: string;
  input: string;
  output?: string;
  param?: string;
  ret: number;
}

/** The cases of a folder of waf-oracles by file name without `.json`; empty when the oracles are not at hand. */
export const oracleCases = (folder: string): Map<string, OracleCase[]> => {
  const path = join(oracleFolder, folder);
  if (!existsSync(path)) return new Map();
  const files = readdirSync(path).filter((file) => file.endsWith('.json'));
  return new Map(files.map((file) => [file.slice(0, -5), JSON.parse(readFileSync(join(path, file), 'utf8'))]));
};

/** Bytes of a case's text: a written-out `\u0000` is a NUL; `\xHH` is a byte unless the tested function decodes it. */
export const oracleBytes = (text: string, keepsEscapes = false): Uint8Array => {
  const binary = Buffer.from(text.replaceAll('\\u0000', '\0')).toString('latin1');
  return Buffer.from(
    keepsEscapes ? binary : binary.replace(/\\x([0-9a-fA-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))),
    'latin1',
  );
};
