import { readFileSync } from 'node:fs';
import { crs3Sources } from '../../../test/support/waf/crs.ts';
import { compileProgram } from '../src/engine/compile.ts';

/** Every pattern of CRS 3.3.4 with the id of its rule. */
export const crs3Patterns = (): { id: number; source: string }[] => {
  const { program } = compileProgram(crs3Sources(4), { readFile: (path) => readFileSync(path) });
  if (program === null) throw new Error('CRS does not load');
  return program.rules.flatMap(({ id, links }) =>
    links.flatMap(({ operator }) => (operator?.pattern == null ? [] : [{ id, source: operator.pattern.source }])),
  );
};
