import { randomUUID } from 'node:crypto';
import type { ConnectionTest, ListQuery, NewRemoteServer, RemoteServer, RemoteServerPatch } from '@sallyport/contract';
import type { Actor, RecordChange } from '../../actor.ts';
import type { Page } from '../../db/listing.ts';
import type { Executor, Transact } from '../../db/open.ts';
import { refuse } from '../../errors.ts';
import { parseOriginHost } from '../../net/domain-name.ts';
import { formatAddress } from '../../net/listen.ts';
import type { RemoteServerStore } from './store.ts';

/** Tries a TCP connection; resolves to undefined when it stood, else to the reason in words. */
export type Connect = (host: string, port: number) => Promise<string | undefined>;

export interface RemoteServerDeps {
  db: Executor;
  transact: Transact;
  store: (executor: Executor) => RemoteServerStore;
  connect: Connect;
  record: RecordChange;
  clock: () => Date;
}

const normalise = <T extends RemoteServerPatch>(input: T): T => {
  const fields = { ...input };
  if (input.name !== undefined) {
    fields.name = input.name.trim();
    if (fields.name === '') throw refuse.invalid('name is required');
  }
  if (input.host !== undefined) {
    try {
      fields.host = parseOriginHost(input.host);
    } catch (error) {
      throw refuse.invalid(`host ${(error as Error).message}`);
    }
  }
  return fields;
};

const notFound = () => refuse.notFound('Remote server not found');

export const createRemoteServers = ({ db, transact, store, connect, record, clock }: RemoteServerDeps) => {
  const findIn = async (executor: Executor, uuid: string): Promise<RemoteServer> => {
    const server = await store(executor).find(uuid);
    if (!server) throw notFound();
    return server;
  };

  return {
    list(query: ListQuery, isEnabled: boolean | undefined): Promise<Page<RemoteServer>> {
      return store(db).list(query, isEnabled);
    },

    get(uuid: string): Promise<RemoteServer> {
      return findIn(db, uuid);
    },

    async create(input: NewRemoteServer, actor: Actor): Promise<RemoteServer> {
      const fields = normalise(input);
      return transact(async (tx) => {
        const now = clock().toISOString();
        const after = await store(tx).insert({
          provider: 'generic',
          enabled: true,
          ...fields,
          uuid: randomUUID(),
          reachable: false,
          last_checked: null,
          created_at: now,
          updated_at: now,
        });
        await record(tx, { action: 'remote_server.create', actor, resource: `remote-servers/${after.uuid}`, after });
        return after;
      });
    },

    async update(uuid: string, patch: RemoteServerPatch, actor: Actor): Promise<RemoteServer> {
      const fields = normalise(patch);
      return transact(async (tx) => {
        const before = await findIn(tx, uuid);
        const after = await store(tx).update(uuid, { ...fields, updated_at: clock().toISOString() });
        if (!after) throw notFound();
        await record(tx, { action: 'remote_server.update', actor, resource: `remote-servers/${uuid}`, before, after });
        return after;
      });
    },

    async remove(uuid: string, actor: Actor): Promise<void> {
      await transact(async (tx) => {
        const before = await findIn(tx, uuid);
        if (await store(tx).isUsed(before.id)) {
          throw refuse.conflict('remote server is in use by one or more proxy hosts');
        }
        await store(tx).delete(before.id);
        await record(tx, { action: 'remote_server.delete', actor, resource: `remote-servers/${uuid}`, before });
      });
    },

    /** Connects to the server and stores what came of it (spec, Remote server reachability). */
    async test(uuid: string, actor: Actor): Promise<ConnectionTest> {
      const { host, port } = await findIn(db, uuid);
      const error = await connect(host, port);
      const timestamp = clock().toISOString();
      const reachable = error === undefined;
      await transact(async (tx) => {
        const after = await store(tx).update(uuid, { reachable, last_checked: timestamp });
        // Deleted while the connection was tried: the answer to the caller is that it is gone.
        if (!after) throw notFound();
        await record(tx, {
          action: 'remote_server.test',
          actor,
          resource: `remote-servers/${uuid}`,
          after: { reachable, last_checked: timestamp },
        });
      });
      return { reachable, address: formatAddress(host, port), ...(error === undefined ? {} : { error }), timestamp };
    },
  };
};
export type RemoteServers = ReturnType<typeof createRemoteServers>;
