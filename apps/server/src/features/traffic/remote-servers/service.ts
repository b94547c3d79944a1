import { randomUUID } from 'node:crypto';
import type {
  ConnectionTest,
  ListQuery,
  NewRemoteServer,
  RemoteServer,
  RemoteServerInUse,
  RemoteServerPatch,
} from '@sallyport/contract';
import { formatAddress } from '@sallyport/deployment/listen';
import type { Actor, RecordChange } from '@sallyport/store/actor';
import { refuseInUse } from '@sallyport/store/database/host-uses';
import type { Identifier } from '@sallyport/store/database/identifier';
import type { Page } from '@sallyport/store/database/listing';
import type { Executor, Transact } from '@sallyport/store/database/open';
import { refuse } from '@sallyport/store/errors';
import { parseOriginHost } from '@sallyport/store/names/domain-name';
import { anyVersion, type CheckVersion } from '@sallyport/store/object-version';
import type { KnownIdentity } from '../../object-reverter.ts';
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
  const findIn = async (executor: Executor, named: Identifier): Promise<RemoteServer> => {
    const server = await store(executor).find(named);
    if (!server) throw notFound();
    return server;
  };

  const note = (
    tx: Executor,
    action: string,
    actor: Actor,
    { uuid }: RemoteServer,
    change: { before?: RemoteServer; after?: RemoteServer },
  ): Promise<void> => {
    const resource = `remote-servers/${uuid}`;
    return record(tx, { action, actor, resource, ...change, history: [{ resource, ...change }] });
  };

  const createIn = async (
    tx: Executor,
    fields: NewRemoteServer,
    actor: Actor,
    known: KnownIdentity = {},
  ): Promise<RemoteServer> => {
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
      ...known,
    });
    await note(tx, 'remote_server.create', actor, after, { after });
    return after;
  };

  const updateIn = async (
    tx: Executor,
    named: Identifier,
    fields: RemoteServerPatch,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<RemoteServer> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    const { host = before.host, port = before.port } = fields;
    const isElsewhere = host !== before.host || port !== before.port;
    const after = await store(tx).update(before.id, {
      ...fields,
      ...(isElsewhere ? { reachable: false, last_checked: null } : {}),
      updated_at: clock().toISOString(),
    });
    if (!after) throw notFound();
    await note(tx, 'remote_server.update', actor, before, { before, after });
    return after;
  };

  const deleteIn = async (
    tx: Executor,
    named: Identifier,
    actor: Actor,
    checkVersion: CheckVersion,
  ): Promise<RemoteServer> => {
    const before = await findIn(tx, named);
    checkVersion(before);
    refuseInUse('remote server', await store(tx).uses(before.id));
    await store(tx).delete(before.id);
    await note(tx, 'remote_server.delete', actor, before, { before });
    return before;
  };

  return {
    /** The same changes in a transaction of the caller. */
    within: {
      create: (tx: Executor, input: NewRemoteServer, actor: Actor, known: KnownIdentity) =>
        createIn(tx, normalise(input), actor, known),
      update: (tx: Executor, named: Identifier, patch: RemoteServerPatch, actor: Actor) =>
        updateIn(tx, named, normalise(patch), actor, anyVersion),
      remove: (tx: Executor, named: Identifier, actor: Actor) => deleteIn(tx, named, actor, anyVersion),
    },

    list(query: ListQuery, isEnabled: boolean | undefined): Promise<Page<RemoteServer>> {
      return store(db).list(query, isEnabled);
    },

    async get(named: Identifier): Promise<RemoteServerInUse> {
      const server = await findIn(db, named);
      return { ...server, ...(await store(db).uses(server.id)) };
    },

    async create(input: NewRemoteServer, actor: Actor): Promise<RemoteServer> {
      const fields = normalise(input);
      return transact((tx) => createIn(tx, fields, actor));
    },

    /** Changes what is given; what was found out about another address is forgotten. Throws a 412, see `checkVersion`. */
    async update(
      named: Identifier,
      patch: RemoteServerPatch,
      actor: Actor,
      checkVersion = anyVersion,
    ): Promise<RemoteServer> {
      const fields = normalise(patch);
      return transact((tx) => updateIn(tx, named, fields, actor, checkVersion));
    },

    async remove(named: Identifier, actor: Actor, checkVersion = anyVersion): Promise<void> {
      await transact((tx) => deleteIn(tx, named, actor, checkVersion));
    },

    /** Connects to the server and stores what came of it (spec, Remote server reachability). */
    async test(named: Identifier, actor: Actor): Promise<ConnectionTest> {
      const { id, uuid, host, port } = await findIn(db, named);
      const error = await connect(host, port);
      const timestamp = clock().toISOString();
      const reachable = error === undefined;
      await transact(async (tx) => {
        // Deleted while the connection was tried: the answer to the caller is that it is gone.
        const now = await findIn(tx, id);
        // What was found out is about the address that was tried.
        if (now.host !== host || now.port !== port) return;
        await store(tx).update(id, { reachable, last_checked: timestamp });
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
