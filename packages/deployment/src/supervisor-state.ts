import { readFileSync, renameSync, writeFileSync } from 'node:fs';

/** What a supervisor leaves for the next one, should it be killed, and for the status meanwhile. */
export interface SupervisorState {
  boot_id: string;
  /** Where the data plane listens, as in SALLYPORT_PROXY_HTTP and _HTTPS. */
  proxy_http: string;
  proxy_https: string;
  /** Those that live. */
  children: { name: string; pid: number; start_time: string; argv: readonly string[] }[];
  /** Of all children since this supervisor runs; `last_end`: when (ISO 8601) and why one ended without being asked to. */
  past?: { name: string; restarts: number; last_end: { at: string; why: string } | null }[];
}

const isState = (value: unknown): value is SupervisorState => {
  if (typeof value !== 'object' || value === null) return false;
  const state = value as Partial<Record<keyof SupervisorState, unknown>>;
  const isText = (text: unknown) => typeof text === 'string';
  return (
    [state.boot_id, state.proxy_http, state.proxy_https].every(isText) &&
    Array.isArray(state.children) &&
    state.children.every(
      (child: Partial<Record<string, unknown>> | null) =>
        isText(child?.name) && Number.isInteger(child?.pid) && isText(child?.start_time),
    )
  );
};

/** Reads the state; undefined when there is none that can be used (all it would save is a restart of the children). */
export const readState = (path: string): SupervisorState | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isState(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Replaces the state in one step: a reader sees the old or the new one, never half of it. */
export const writeState = (path: string, state: SupervisorState): void => {
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
};
