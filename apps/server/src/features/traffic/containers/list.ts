import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import type { Container, ListQuery } from '@sallyport/contract';
import { Cidr, cidrSet } from '@sallyport/deployment/cidr';
import { type Page, pageOfRows } from '@sallyport/store/database/listing';
import { refuse } from '@sallyport/store/errors';
import { type EngineContainer, readContainers } from './engine.ts';

export interface ListContainersDeps {
  /** Where Docker or Podman listens; undefined: nobody is asked. */
  socketPath: string | undefined;
  /** The networks that this machine has an address in, as CIDRs. */
  ownNetworks: () => string[];
}

/** What this machine reaches without a router: networks of containers, when it made them or is in one itself. */
export const networksOfThisMachine = (interfaces = networkInterfaces()): string[] =>
  Object.values(interfaces)
    .flatMap((all) => all ?? [])
    .flatMap(({ cidr, internal }) => (cidr === null || internal ? [] : [cidr]));

const byName = (a: { name: string }, b: { name: string }): number => (a.name < b.name ? -1 : Number(a.name > b.name));

const addressIn = (...given: (string | undefined)[]): string | null =>
  given.find((address) => address !== undefined && isIP(address) !== 0) ?? null;

const networksOf = ({ NetworkSettings }: EngineContainer): Container['networks'] =>
  Object.entries(NetworkSettings?.Networks ?? {})
    .map(([name, endpoint]) => ({ name, address: addressIn(endpoint?.IPAddress, endpoint?.GlobalIPv6Address) }))
    .sort(byName);

const portsOf = ({ Ports }: EngineContainer): Container['ports'] => {
  const found = new Map<string, Container['ports'][number]>();
  for (const { IP, PrivatePort: port, PublicPort, Type: protocol } of Ports ?? []) {
    if (port === 0) continue;
    const key = `${port}/${protocol}`;
    const known = found.get(key) ?? { port, protocol, published: [] };
    found.set(key, known);
    // Podman names no address for all of them.
    if (PublicPort) known.published.push({ ip: IP || '0.0.0.0', port: PublicPort });
  }
  return [...found.values()].sort((a, b) => a.port - b.port || byName({ name: a.protocol }, { name: b.protocol }));
};

/** Makes the list of the containers that run, by name. Nobody is asked before somebody calls, and one question is under way at a time. */
export const createListContainers = ({ socketPath, ownNetworks }: ListContainersDeps) => {
  let asking: Promise<EngineContainer[]> | undefined;

  const ask = (path: string): Promise<EngineContainer[]> => {
    asking ??= readContainers(path).finally(() => {
      asking = undefined;
    });
    return asking;
  };

  /** Throws a 503 that says what to do when there is nobody to ask, or no answer. */
  return async (query: ListQuery): Promise<Page<Container>> => {
    if (socketPath === undefined) {
      throw refuse.unavailable('Containers are not listed: SALLYPORT_DOCKER_SOCKET is off');
    }
    const found = await ask(socketPath);
    const isReached = cidrSet(ownNetworks().map(Cidr.parse));
    const rows = found.map((one): Container => {
      const networks = networksOf(one);
      return {
        id: one.Id,
        name: (one.Names?.[0] ?? one.Id.slice(0, 12)).replace(/^\//, ''),
        image: one.Image,
        state: one.State,
        networks,
        ip: networks.find(({ address }) => address !== null && isReached(address))?.address ?? null,
        ports: portsOf(one),
      };
    });
    return pageOfRows(rows.sort(byName), query, {
      sortable: ['name', 'image', 'state'],
      searchable: ['name', 'image', 'id'],
    });
  };
};
export type ListContainers = ReturnType<typeof createListContainers>;
