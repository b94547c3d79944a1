import type { GuardConfig } from '@sallyport/contract';
import type { RequestExclusion } from '@sallyport/waf';

type Configured = GuardConfig['waf']['exclusions'][number];

/** Exclusions in force for a request to this host and request target; undefined when there are none. */
export type FindExclusions = (hostId: number, uri: Uint8Array) => readonly RequestExclusion[] | undefined;

/**
 * The decoded path of a request target, or undefined when applications may read it in different ways (dot segments,
 * doubled slashes, backslashes, encoded ones of these, controls): an exclusion must not be reached by a detour.
 */
export const plainPath = (uri: Uint8Array): string | undefined => {
  const target = Buffer.from(uri.buffer, uri.byteOffset, uri.byteLength).toString('latin1').split(/[?#]/, 1)[0] ?? '';
  const path = /^[a-z][a-z0-9+.-]*:\/\/[^/]*/i.test(target) ? target.replace(/^[^/]*\/\/[^/]*/, '') : target;
  const text = path.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  if (!text.startsWith('/') || /\/\/|\\|%|[\0-\x1f;]|\/\.\.?(?:\/|$)/.test(text)) return undefined;
  return Buffer.from(text, 'latin1').toString('utf8');
};

const isBelow = (path: string, prefix: string): boolean =>
  path === prefix || path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);

const applies = ({ host_id, path }: Configured, hostId: number, requested: string | undefined): boolean =>
  (host_id === undefined || host_id === hostId) &&
  (path === undefined || (requested !== undefined && isBelow(requested, path)));

/** Prepares the exclusions that depend on host or path. */
export const compileExclusions = (configured: readonly Configured[]): FindExclusions => {
  if (configured.length === 0) return () => undefined;
  const entries = configured.map((entry) => {
    const { rule_id: ruleId, target } = entry;
    const exclusion = { ...(ruleId === undefined ? {} : { ruleId }), ...(target === undefined ? {} : { target }) };
    return { entry, exclusion };
  });
  const usesPath = configured.some(({ path }) => path !== undefined);
  return (hostId, uri) => {
    const requested = usesPath ? plainPath(uri) : undefined;
    const found = entries.filter(({ entry }) => applies(entry, hostId, requested));
    return found.length === 0 ? undefined : found.map(({ exclusion }) => exclusion);
  };
};
