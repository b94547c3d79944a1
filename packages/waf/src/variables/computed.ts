import { latin1 } from '../bytes/bytes.ts';
import { sourceId } from '../model/source.ts';
import type { Transaction } from '../model/transaction.ts';
import { fullRequestVariables } from './full-request.ts';
import { multipartVariables } from './multipart.ts';
import { timeVariables } from './time.ts';

const requestFilename = sourceId('requestFilename');

type Read = (tx: Transaction) => string | number | undefined;

const header = (tx: Transaction, side: 'request' | 'response', name: string): string | undefined => {
  const headers = side === 'request' ? tx.request.headers : (tx.response?.headers ?? []);
  for (const [key, value] of headers)
    if (key.length === name.length && latin1(key).toLowerCase() === name) return latin1(value);
  return undefined;
};

const remoteUser: Read = (tx) => {
  const found = /^basic\s+([A-Za-z0-9+/=_-]+)/i.exec(header(tx, 'request', 'authorization') ?? '');
  if (found === null) return undefined;
  return Buffer.from(found[1]!, 'base64').toString('latin1').split(':', 1)[0];
};

const serverName: Read = (tx) => {
  const host = header(tx, 'request', 'host');
  if (host === undefined) return tx.request.serverAddress;
  return host.startsWith('[') ? host.slice(0, host.indexOf(']') + 1) : host.replace(/:\d*$/, '');
};

/** The status that the client gets: the origin's, or that of the refusal. */
const answeredStatus: Read = (tx) => {
  const refusal = tx.engineMode === 'on' ? tx.interruption : null;
  return refusal?.kind === 'block' || refusal?.kind === 'redirect' ? refusal.status : tx.response?.status;
};

/** Single values that are worked out when a rule or macro asks for them. */
export const computedVariables: Readonly<Record<string, Read>> = {
  REMOTE_ADDR: (tx) => tx.request.clientAddress,
  REMOTE_HOST: (tx) => tx.request.clientAddress,
  REMOTE_PORT: (tx) => tx.request.clientPort,
  REMOTE_USER: remoteUser,
  AUTH_TYPE: (tx) => /^\S+/.exec(header(tx, 'request', 'authorization') ?? '')?.[0],
  SERVER_ADDR: (tx) => tx.request.serverAddress,
  SERVER_PORT: (tx) => tx.request.serverPort,
  SERVER_NAME: serverName,
  UNIQUE_ID: (tx) => tx.request.uniqueId,
  WEBAPPID: (tx) => tx.settings.webAppId,
  SESSIONID: (tx) => tx.collections.keyOf('session'),
  USERID: (tx) => tx.collections.keyOf('user'),
  PATH_INFO: (tx) => {
    const [entry] = tx.entriesOf(requestFilename);
    return entry === undefined ? undefined : latin1(entry.buf, entry.start, entry.end);
  },
  ARGS_COMBINED_SIZE: (tx) => tx.argsCombinedSize,
  REQUEST_BODY_LENGTH: (tx) => tx.body.bytes.length,
  FILES_COMBINED_SIZE: (tx) => tx.body.filesCombinedSize,
  REQBODY_ERROR: (tx) => (tx.body.isParseFailed ? 1 : 0),
  REQBODY_ERROR_MSG: (tx) => tx.body.error,
  REQBODY_PROCESSOR: (tx) => tx.bodyProcessor,
  REQBODY_PROCESSOR_ERROR: (tx) => (tx.body.isParseFailed ? 1 : 0),
  REQBODY_PROCESSOR_ERROR_MSG: (tx) => tx.body.error,
  INBOUND_DATA_ERROR: (tx) => tx.inboundDataError,
  OUTBOUND_DATA_ERROR: (tx) => tx.outboundDataError,
  URLENCODED_ERROR: (tx) => (tx.urlencodedErrors > 0 ? 1 : 0),
  RESPONSE_STATUS: answeredStatus,
  STATUS: answeredStatus,
  RESPONSE_CONTENT_TYPE: (tx) => header(tx, 'response', 'content-type'),
  RESPONSE_CONTENT_LENGTH: (tx) =>
    tx.response === null ? undefined : (header(tx, 'response', 'content-length') ?? tx.response.body?.length ?? 0),
  HIGHEST_SEVERITY: (tx) => tx.highestSeverity,
  MATCHED_VAR: (tx) => tx.matchedValue,
  MATCHED_VAR_NAME: (tx) => tx.matchedName,
  DURATION: (tx) => {
    const elapsed = tx.elapsedMs();
    return elapsed === null ? undefined : Math.floor(elapsed);
  },
  MODSEC_BUILD: () => '030000000',
  MSC_PCRE_LIMITS_EXCEEDED: (tx) => (tx.isWorkSpent ? 1 : 0),
  MSC_PCRE_ERROR: (tx) => (tx.isWorkSpent ? 1 : 0),
  ...fullRequestVariables,
  ...multipartVariables,
  ...timeVariables,
};
