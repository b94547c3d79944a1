import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { DesiredHost, HostChange } from '../model/desired.ts';
import { checkName, encodeRoute, InvalidRoute } from '../routes/route-record.ts';

const hostsPerTurn = 1_000;

/** Which host has which names, and why some hosts cannot be served. */
export type RouteBook = {
  readonly size: number;
  /** Why each refused host is not served, by id. */
  readonly refused: ReadonlyMap<number, string>;
  get(id: number): DesiredHost | undefined;
  /** All hosts; can be gone through more than once. */
  values(): Iterable<DesiredHost>;
  /** Takes changes in order; returns the names whose record may have changed (undefined: no longer served). */
  change(changes: readonly HostChange[]): {
    changedNames: Map<string, string | undefined>;
    refused: Map<number, string>;
  };
  /** Replaces everything; returns name → record. Yields to other work while it goes through many hosts. */
  reset(hosts: Iterable<DesiredHost>): Promise<Map<string, string>>;
};

export const createRouteBook = (): RouteBook => {
  let hosts = new Map<number, DesiredHost>();
  let owners = new Map<string, number>();
  let refused = new Map<number, string>();

  const checkOwners = (host: DesiredHost): void => {
    if (host.names.length === 0) throw new InvalidRoute('the host has no name');
    for (const name of host.names) {
      const owner = owners.get(checkName(name));
      if (owner !== undefined && owner !== host.id)
        throw new InvalidRoute(`another host (id ${owner}) already has ${name}`);
    }
  };

  const put = (host: DesiredHost, onName: (name: string, record: string | undefined) => void): void => {
    const record = encodeRoute(host);
    checkOwners(host);
    for (const name of hosts.get(host.id)?.names ?? []) {
      owners.delete(name);
      onName(name, undefined);
    }
    for (const name of host.names) {
      owners.set(name, host.id);
      onName(name, record);
    }
    hosts.set(host.id, host);
    refused.delete(host.id);
  };

  /** A host that cannot be served leaves what was served for it before in force; returns the reason. */
  const tryPut = (
    host: DesiredHost,
    onName: (name: string, record: string | undefined) => void,
  ): string | undefined => {
    try {
      put(host, onName);
      return undefined;
    } catch (error) {
      if (!(error instanceof InvalidRoute)) throw error;
      refused.set(host.id, error.message);
      return error.message;
    }
  };

  return {
    get size() {
      return hosts.size;
    },
    get refused() {
      return refused;
    },
    get: (id) => hosts.get(id),
    values: () => ({ [Symbol.iterator]: () => hosts.values() }),
    change(changes) {
      const changedNames = new Map<string, string | undefined>();
      const refusedNow = new Map<number, string>();
      for (const change of changes) {
        if (change.type === 'put') {
          const reason = tryPut(change.host, (name, record) => changedNames.set(name, record));
          if (reason !== undefined) refusedNow.set(change.host.id, reason);
          else refusedNow.delete(change.host.id);
          continue;
        }
        for (const name of hosts.get(change.id)?.names ?? []) {
          owners.delete(name);
          changedNames.set(name, undefined);
        }
        hosts.delete(change.id);
        refused.delete(change.id);
      }
      return { changedNames, refused: refusedNow };
    },
    async reset(desired) {
      hosts = new Map();
      owners = new Map();
      refused = new Map();
      const records = new Map<string, string>();
      let count = 0;
      for (const host of desired) {
        tryPut(host, (name, record) => {
          if (record === undefined) records.delete(name);
          else records.set(name, record);
        });
        if (++count % hostsPerTurn === 0) await yieldToOthers();
      }
      return records;
    },
  };
};
