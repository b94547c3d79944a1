import type { WafRequest } from '../../model/request.ts';

const empty = new Uint8Array(0);

/** A request without any values, to find out what rules do by themselves. */
export const emptyRequest: WafRequest = {
  method: empty,
  uri: empty,
  httpVersion: empty,
  headers: [],
  body: null,
  clientAddress: '127.0.0.1',
  clientPort: 0,
  serverAddress: '127.0.0.1',
  serverPort: 0,
  uniqueId: '',
  now: 0,
};
