import { limits } from '../model/limits.ts';

const MAX_HEADER = 16_384;

/** Where `Link` (RFC 8288) says that other chains of the same certificate are; relative ones against `base`. */
export const alternateUrls = (header: string | null | undefined, base: string): string[] => {
  const links = (header ?? '').slice(0, MAX_HEADER).matchAll(/<([^<>]{1,2000})>([^<,]*)/g);
  return [...links]
    .filter(([, , parameters = '']) => /;\s*rel\s*=\s*"?alternate"?\s*(?:;|$)/i.test(parameters))
    .map(([, target = '']) => target)
    .filter((target) => URL.canParse(target, base))
    .map((target) => new URL(target, base).href)
    .slice(0, limits.alternateChains);
};
