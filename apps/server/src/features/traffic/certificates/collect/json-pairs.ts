/** Deeper than any of the files that are known. */
const MAX_DEPTH = 8;

const decoded = (value: unknown): string | undefined => {
  if (typeof value !== 'string') return undefined;
  return value.includes('-----BEGIN') ? value : Buffer.from(value, 'base64').toString('latin1');
};

const field = (object: Record<string, unknown>, name: string): unknown =>
  Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];

const walk = (value: unknown, depth: number, found: string[]): void => {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const object = value as Record<string, unknown>;
  const [certificate, key] = [decoded(field(object, 'certificate')), decoded(field(object, 'key'))];
  if (certificate?.includes('-----BEGIN') && key?.includes('-----BEGIN')) found.push(`${certificate}\n${key}`);
  for (const one of Object.values(object)) walk(one, depth + 1, found);
};

/**
 * PEM texts of certificates with their keys in a JSON text: Traefik's acme.json has them in base64, some others as they are.
 * None for what is no JSON.
 */
export const jsonPairs = (text: string): string[] => {
  if (!text.trimStart().startsWith('{')) return [];
  const found: string[] = [];
  try {
    walk(JSON.parse(text), 0, found);
  } catch {
    // No JSON, or not all of it.
  }
  return found;
};
