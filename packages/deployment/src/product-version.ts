import { readFileSync } from 'node:fs';

/** Version of the product, of the repository's package.json: the workspaces have none of their own. */
export const productVersion = (): string => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};
