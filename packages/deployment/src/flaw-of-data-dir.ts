/** Longest path of a socket that HAProxy listens on, bytes: it binds `<path>.<pid>.tmp` first, and renames it. */
const LONGEST_PROXY_SOCKET = 92;

/** No other one below the data directory has a longer path. */
const LONGEST_DATA_DIR = LONGEST_PROXY_SOCKET - '/haproxy/relayed.sock'.length;

/** Why HAProxy can't be told of sockets below this directory: it reads lists and variables in their addresses, however they are quoted. */
export const flawOfDataDir = (path: string): string | undefined => {
  if (/[\u0000-\u001f\u007f',$]/.test(path)) return 'must not hold single quotes, commas, $ or control characters';
  if (Buffer.byteLength(path) > LONGEST_DATA_DIR)
    return `must have at most ${LONGEST_DATA_DIR} bytes, for the sockets below it`;
  return undefined;
};
