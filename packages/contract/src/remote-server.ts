import { usedBy } from './host-uses.ts';
import { choice, ignoring, Port, RowId, Timestamp, Uuid } from './primitives.ts';
import { type Static, Type } from './schema.ts';

/** What the server assigns. */
const ASSIGNED = ['id', 'uuid', 'reachable', 'last_checked', 'used_by', 'used_by_total', 'created_at', 'updated_at'];

const PROVIDERS = ['generic', 'docker', 'kubernetes', 'aws', 'gcp', 'azure'] as const;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 255, description: 'Label; need not be unique.' }),
  provider: choice(PROVIDERS, { description: 'Where the machine runs. Default generic.' }),
  host: Type.String({ minLength: 1, maxLength: 253, description: 'Host name, IPv4 or IPv6 address.' }),
  port: Port,
  enabled: Type.Boolean({ description: 'Offered for use. Default true.' }),
};

const { provider, enabled, ...required } = fields;

export const NewRemoteServer = Type.Object(
  {
    ...required,
    provider: Type.Optional(provider),
    enabled: Type.Optional(enabled),
  },
  ignoring('NewRemoteServer', ASSIGNED),
);
export type NewRemoteServer = Static<typeof NewRemoteServer>;

export const RemoteServerPatch = Type.Partial(Type.Object(fields), ignoring('RemoteServerPatch', ASSIGNED));
export type RemoteServerPatch = Static<typeof RemoteServerPatch>;

export const RemoteServerFields = Type.Object(fields, { title: 'RemoteServerFields' });
export type RemoteServerFields = Static<typeof RemoteServerFields>;

export const RemoteServer = Type.Object(
  {
    id: RowId,
    uuid: Uuid,
    ...fields,
    reachable: Type.Boolean({ description: 'Result of the last connection test; false before the first.' }),
    last_checked: Type.Union([Timestamp, Type.Null()], { description: 'When it was last tested; null before that.' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'RemoteServer' },
);
export type RemoteServer = Static<typeof RemoteServer>;

export const RemoteServerInUse = Type.Object(
  { ...RemoteServer.properties, ...usedBy },
  { title: 'RemoteServerInUse', description: 'A remote server with the proxy hosts that refer to it.' },
);
export type RemoteServerInUse = Static<typeof RemoteServerInUse>;

export const RemoteServerQuery = Type.Object(
  {
    enabled: Type.Optional(choice(['true', 'false'], { description: 'Only enabled or only disabled ones.' })),
  },
  { title: 'RemoteServerQuery' },
);
export type RemoteServerQuery = Static<typeof RemoteServerQuery>;

export const ConnectionTest = Type.Object(
  {
    reachable: Type.Boolean(),
    address: Type.String({ description: 'host:port that was tried; IPv6 in brackets.' }),
    error: Type.Optional(Type.String({ description: 'Why it was unreachable.' })),
    timestamp: Timestamp,
  },
  { title: 'ConnectionTest' },
);
export type ConnectionTest = Static<typeof ConnectionTest>;
