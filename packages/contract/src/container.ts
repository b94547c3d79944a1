import { Port } from './primitives.ts';
import { type Static, Type } from './schema.ts';

const Address = Type.String({ description: 'IPv4 or IPv6 address.' });

const ContainerNetwork = Type.Object({
  name: Type.String(),
  address: Type.Union([Address, Type.Null()], {
    description: 'Of the container in this network; null where it has none of its own, as with `host`.',
  }),
});

const PublishedPort = Type.Object({
  ip: Type.String({ description: 'Address of the machine; `0.0.0.0` or `::` stands for all of them.' }),
  port: Port,
});

const ContainerPort = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535, description: 'Where the container listens.' }),
  protocol: Type.String({ description: '`tcp`, `udp` or `sctp`.' }),
  published: Type.Array(PublishedPort, { description: 'Where the machine passes it on; empty when it does not.' }),
});

export const Container = Type.Object(
  {
    id: Type.String(),
    name: Type.String({ description: 'Without the slash that Docker writes before it.' }),
    image: Type.String(),
    state: Type.String({ description: 'In the words of Docker or Podman: `running`, `paused`, `restarting`.' }),
    networks: Type.Array(ContainerNetwork, { description: 'By name.' }),
    ip: Type.Union([Address, Type.Null()], {
      description: 'Address in its first network that this machine has a part in; null when there is none.',
    }),
    ports: Type.Array(ContainerPort, { description: 'What is exposed, by number.' }),
  },
  { title: 'Container', description: 'A container that runs on this machine.' },
);
export type Container = Static<typeof Container>;
