import { type LegoType, parseCodes, parseType } from './fields.ts';
import { askLego, findLego, type LegoProgram } from './program.ts';

/** Asked side by side; each is over in some milliseconds. */
const AT_ONCE = 4;

interface Known {
  program: LegoProgram;
  codes: readonly string[];
  types: Map<string, LegoType | undefined>;
}

/** What the lego of this machine knows, asked when it is first needed and kept until it is another one. */
export const createLegoTypes = (find: () => Promise<LegoProgram> = findLego) => {
  let known: Known | undefined;

  const current = async (): Promise<Known> => {
    const program = await find();
    if (known?.program.stamp !== program.stamp || known.program.path !== program.path) {
      known = { program, codes: parseCodes(await askLego(program.path, 'dnshelp')), types: new Map() };
    }
    return known;
  };

  const typeIn = async ({ program, codes, types }: Known, code: string): Promise<LegoType | undefined> => {
    if (!codes.includes(code)) return undefined;
    if (!types.has(code)) types.set(code, parseType(code, await askLego(program.path, 'dnshelp', '-c', code)));
    return types.get(code);
  };

  return {
    /** Path of the program. Rejects with an `Error` that says how to install it. */
    program: async (): Promise<string> => (await current()).program.path,

    /** Undefined for a code that it does not know, or that is not offered. Rejects without a lego. */
    find: async (code: string): Promise<LegoType | undefined> => typeIn(await current(), code),

    /** All that are offered. Rejects without a lego. */
    async all(): Promise<LegoType[]> {
      const now = await current();
      const found: (LegoType | undefined)[] = [];
      for (let at = 0; at < now.codes.length; at += AT_ONCE) {
        found.push(...(await Promise.all(now.codes.slice(at, at + AT_ONCE).map((code) => typeIn(now, code)))));
      }
      return found.filter((type) => type !== undefined);
    },
  };
};
export type LegoTypes = ReturnType<typeof createLegoTypes>;
