import { isIP } from 'node:net';

export interface NameServerAddress {
  address: string;
  port: number | undefined;
}

/** Reads `192.0.2.1`, `192.0.2.1:5353`, `2001:db8::1` or `[2001:db8::1]:5353`. Throws an `Error` that says what is wrong. */
export const parseAddress = (text: string): NameServerAddress => {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text);
  const plain = isIP(text) === 0 ? /^([^:]+)(?::(\d{1,5}))?$/.exec(text) : [text, text];
  const [, address = '', portText] = bracketed ?? plain ?? [];
  const port = portText === undefined ? undefined : Number(portText);
  const isPort = port === undefined || (port >= 1 && port <= 65_535);
  if (isIP(address) === 0 || address.includes('%') || !isPort) {
    throw new Error(
      `${JSON.stringify(text.slice(0, 80))} is no address of a name server, such as 192.0.2.1 or [2001:db8::1]:53`,
    );
  }
  return { address, port };
};

/** The form that `parseAddress` reads, without the port when there is none. */
export const formatAddress = (address: string, port: number | undefined): string => {
  if (port === undefined) return address;
  return isIP(address) === 6 ? `[${address}]:${port}` : `${address}:${port}`;
};

/** Reads a list of addresses with spaces or commas between, and returns them as `formatAddress` writes them. Throws like `parseAddress`. */
export const parseNameServers = (text: string): string[] =>
  text
    .split(/[\s,]+/)
    .filter((part) => part !== '')
    .map(parseAddress)
    .map(({ address, port }) => formatAddress(address, port));
