import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An address and port as the kernel's tables have them: words of four bytes in the order of this machine, in hexadecimal. */
const inTable = (address: ipaddr.IPv4 | ipaddr.IPv6, port: number): string => {
  const bytes = address.toByteArray();
  const words = Array.from({ length: bytes.length / 4 }, (_, word) => bytes.slice(word * 4, word * 4 + 4).reverse());
  const hex = Buffer.from(words.flat()).toString('hex').toUpperCase();
  return `${hex}:${port.toString(16).toUpperCase().padStart(4, '0')}`;
};

interface End {
  address: ipaddr.IPv4 | ipaddr.IPv6;
  port: number;
}

const end = (address: string | undefined, port: number | undefined): End | undefined =>
  address === undefined || port === undefined ? undefined : { address: ipaddr.process(address), port };

const mapped = ({ address, port }: End): End =>
  address.kind() === 'ipv4' ? { address: (address as ipaddr.IPv4).toIPv4MappedAddress(), port } : { address, port };

/** The user id in the line of a table (proc(5), /proc/net/tcp) that goes from `from` to `to`; undefined when nobody holds that end. */
const uidIn = (table: string, from: End, to: End): number | undefined => {
  const pair = ` ${inTable(from.address, from.port)} ${inTable(to.address, to.port)} `;
  const at = table.indexOf(pair);
  if (at < 0) return undefined;
  const [, , , , , , uid, , inode] = table.slice(at, table.indexOf('\n', at)).trim().split(/\s+/);
  // What its process has left has no inode, and shows the uid of root.
  return inode === '0' || inode === undefined ? undefined : Number(uid);
};

/**
 * The user id of the process at the other end of a TCP connection within this machine, as the kernel tells it; undefined when it
 * can't be told. Costs a look through all connections of the machine.
 */
export const peerUid = (socket: Socket): number | undefined => {
  const peer = end(socket.remoteAddress, socket.remotePort);
  const own = end(socket.localAddress, socket.localPort);
  if (!peer || !own) return undefined;
  const tables: [string, End, End][] = [['/proc/net/tcp6', mapped(peer), mapped(own)]];
  if (peer.address.kind() === 'ipv4') tables.unshift(['/proc/net/tcp', peer, own]);
  for (const [path, from, to] of tables) {
    try {
      const uid = uidIn(readFileSync(path, 'latin1'), from, to);
      if (uid !== undefined) return uid;
    } catch {
      // A kernel without IPv6 has no such table.
    }
  }
  return undefined;
};

/** The ids that Debian's adduser gives to people (adduser.conf); below are services, above are containers' users and nobody. */
const PEOPLE = { first: 1_000, last: 59_999 } as const;

const known = new WeakMap<Socket, boolean>();

/**
 * Tells whether a connection within this machine was made by root, by our own account or by a person's. A proxy gives up root for an
 * account of its own: what it brings is somebody else's, even if it adds no header that says so.
 */
export const isPersonsConnection = (socket: Socket): boolean => {
  let answer = known.get(socket);
  if (answer === undefined) {
    const uid = peerUid(socket);
    answer =
      uid !== undefined && (uid === 0 || uid === process.getuid?.() || (uid >= PEOPLE.first && uid <= PEOPLE.last));
    known.set(socket, answer);
  }
  return answer;
};
