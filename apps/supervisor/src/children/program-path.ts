import { fileURLToPath } from 'node:url';

/** Absolute path of a TypeScript file under apps/, for Node to run. */
export const programPath = (pathUnderApps: string): string =>
  fileURLToPath(new URL(`../../../${pathUnderApps}`, import.meta.url));
