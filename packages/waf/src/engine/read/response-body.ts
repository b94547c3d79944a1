import { bytesOf, latin1 } from '../../bytes/bytes.ts';
import type { WafResponse } from '../../model/request.ts';
import { sourceId } from '../../model/source.ts';
import type { Transaction } from '../../model/transaction.ts';

const ids = {
  body: sourceId('responseBody'),
  protocol: sourceId('responseProtocol'),
  statusLine: sourceId('statusLine'),
};

/** Stores what the status line says. */
export const storeStatusLine = (tx: Transaction, response: WafResponse): void => {
  const protocol = bytesOf(response.httpVersion ?? 'HTTP/1.1');
  tx.addEntry(ids.protocol, '', '', protocol, 0, protocol.length);
  const line = bytesOf(`${response.httpVersion ?? 'HTTP/1.1'} ${response.status}`);
  tx.addEntry(ids.statusLine, '', '', line, 0, line.length);
};

/** Stores RESPONSE_BODY when rules may see it: access is on and the media type is one of SecResponseBodyMimeType. */
export const storeResponseBody = (tx: Transaction, response: WafResponse): void => {
  if (response.bodyTruncated === true) tx.outboundDataError = 1;
  if (!tx.isResponseBodyAccessed || response.body === null || !isInspectedType(tx, response)) return;
  const { responseBodyLimit, responseBodyLimitAction } = tx.settings;
  let { body } = response;
  if (body.length > responseBodyLimit) {
    tx.limitsHit.add('response_body');
    tx.outboundDataError = 1;
    if (responseBodyLimitAction === 'reject') {
      tx.interruption ??= { kind: 'block', status: 500, url: null, rule: null };
      if (tx.engineMode === 'on') return;
    }
    body = body.subarray(0, responseBodyLimit);
  }
  tx.addEntry(ids.body, '', '', body, 0, body.length);
};

const isInspectedType = (tx: Transaction, response: WafResponse): boolean => {
  const header = response.headers.find(([name]) => latin1(name).toLowerCase() === 'content-type');
  const type = header === undefined ? 'null' : latin1(header[1]).split(';', 1)[0]!.trim().toLowerCase();
  const { responseBodyTypes } = tx.settings;
  return responseBodyTypes.includes(type);
};
