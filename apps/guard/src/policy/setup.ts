import type { GuardConfig } from '@sallyport/contract';
import { WAF_BODY_LIMIT } from '@sallyport/contract/values';
import type { Limits } from '@sallyport/waf';

/** How the rules are set up for a host. */
export interface Setup {
  /** TX variables that this host has otherwise than the rules say; undefined for most. */
  settings: Readonly<Record<string, string>> | undefined;
  limits: Limits & { maxBodyBytes: number };
}

/** Prepares what hosts have of their own, so that a request only looks it up. */
export const compileSetup = ({ waf, hosts }: GuardConfig): ((hostId: number) => Setup) => {
  const mode = waf.mode === 'block' ? 'block' : 'detect';
  const maxBodyBytes = waf.body_limit ?? WAF_BODY_LIMIT;
  const common: Setup = { settings: undefined, limits: { mode, maxBodyBytes } };
  const own = new Map<number, Setup>();
  for (const { id, waf_settings: settings, waf_body_limit: limit } of hosts) {
    if (settings === undefined && limit === undefined) continue;
    own.set(id, { settings, limits: { mode, maxBodyBytes: limit ?? maxBodyBytes } });
  }
  return (hostId) => own.get(hostId) ?? common;
};
