import {
  type Argument,
  decodeHdrsBin,
  type EncodedActions,
  encodeActions,
  type Message,
  type NotifyHandler,
  setVar,
} from '@sallyport/spop';
import type { RawHeader, WafRequest } from '@sallyport/waf';
import type { Policy } from '../policy/policy.ts';
import type { Counter } from '../tell/counts.ts';
import { toActions, unprepared } from './answers.ts';
import type { Judged, JudgeRequests } from './judge.ts';
import { type Question, whyUnprepared } from './prepared.ts';

/** Positions of the arguments in both messages (packages/haproxy, config/guard.ts). */
const AT = {
  id: 0,
  host: 1,
  src: 2,
  srcPort: 3,
  dst: 4,
  dstPort: 5,
  version: 6,
  method: 7,
  url: 8,
  headers: 9,
  hasList: 10,
  policy: 11,
  body: 12,
};

/** Those of the question who is there. */
const PRESENCE_AT = { host: 0, hasList: 1, policy: 2 };

const EMPTY = new Uint8Array(0);

const argument = (message: Message, index: number): Argument => {
  const found = message.args[index];
  if (!found) throw new Error(`message ${message.name} has no argument ${index}`);
  return found;
};

const httpVersions = new Map<string, Uint8Array>();
const httpVersion = (text: string): Uint8Array => {
  const known = httpVersions.get(text);
  if (known) return known;
  const bytes = Buffer.from(`HTTP/${text}`, 'latin1');
  if (httpVersions.size < 16) httpVersions.set(text, bytes);
  return bytes;
};

const SLASH = 0x2f;

/** HTTP/2 has no request line; HAProxy gives its parts as an absolute URI, which no client has sent. */
const requestTarget = (url: Uint8Array, version: string): Uint8Array => {
  if (version === '1.1' || version === '1.0' || url[0] === SLASH) return url;
  const text = Buffer.from(url.buffer, url.byteOffset, Math.min(url.byteLength, 512)).toString('latin1');
  const authority = /^https?:\/\/[^/?]*/.exec(text);
  return authority ? url.subarray(authority[0].length) : url;
};

/** The request of a message. Throws when the message is not as HAProxy was told to send it. */
const toJudged = (message: Message): Judged => {
  const hostId = Number(argument(message, AT.host).text());
  const client = argument(message, AT.src).address;
  // A host or client that is not known can't be judged.
  if (!Number.isSafeInteger(hostId) || hostId < 1 || client === undefined) throw new Error('no host or client');
  let headers: readonly RawHeader[] | undefined;
  return {
    reference: argument(message, AT.id).text(),
    hostId,
    client,
    method: argument(message, AT.method).bytes,
    uri: requestTarget(argument(message, AT.url).bytes, argument(message, AT.version).text()),
    headers: () => {
      headers ??= decodeHdrsBin(argument(message, AT.headers).bytes);
      return headers;
    },
  };
};

const number = ({ scalar }: Argument): number => (typeof scalar === 'number' ? scalar : 0);

const toWafRequest = (message: Message, request: Judged, policy: Policy): WafRequest => {
  const body = argument(message, AT.body).bytes;
  const exclusions = policy.exclusions(request.hostId, request.uri);
  return {
    method: request.method,
    uri: request.uri.length === 0 ? EMPTY : request.uri,
    httpVersion: httpVersion(argument(message, AT.version).text()),
    headers: request.headers(),
    body: body.length === 0 ? null : body,
    clientAddress: request.client,
    clientPort: number(argument(message, AT.srcPort)),
    serverAddress: argument(message, AT.dst).address ?? '0.0.0.0',
    serverPort: number(argument(message, AT.dstPort)),
    uniqueId: request.reference,
    now: Date.now(),
    ...(exclusions ? { exclusions } : {}),
  };
};

export interface OnNotifyDeps {
  /** Number of this worker. */
  worker: number;
  /** The policy in force; undefined when there is none yet. */
  policy: () => Policy | undefined;
  judge: JudgeRequests;
  counter: Counter;
  /** Told why a request could not be judged for want of something to judge it by; HAProxy then asks the next guard. */
  onUnprepared(reason: string): void;
}

/**
 * Answers HAProxy's question about a request. Throws when there is no answer, which HAProxy treats as a refusal unless the
 * operator wants such requests to pass.
 */
export const createOnNotify = (deps: OnNotifyDeps): NotifyHandler => {
  const { worker, policy: current, judge, counter, onUnprepared } = deps;
  const present = encodeActions([setVar('txn', 'relay', worker)]);
  const absent = encodeActions([]);
  /** Notes why such a question can't be answered; undefined when it can be. */
  const noteUnprepared = (question: Question): string | undefined => {
    const reason = whyUnprepared(current(), question);
    if (reason === undefined) return undefined;
    counter.add('unjudged');
    onUnprepared(reason);
    return reason;
  };
  /** For a request that goes through the relay beside this: whoever answers is alive. */
  const tellPresence = (message: Message): EncodedActions => {
    const question = {
      hostId: Number(argument(message, PRESENCE_AT.host).text()),
      isFirewalled: true,
      hasList: number(argument(message, PRESENCE_AT.hasList)) !== 0,
      policy: number(argument(message, PRESENCE_AT.policy)),
    };
    return noteUnprepared(question) === undefined ? present : absent;
  };
  const decide = (message: Message): EncodedActions => {
    const request = toJudged(message);
    const policy = current();
    const reason = noteUnprepared({
      hostId: request.hostId,
      isFirewalled: message.name === 'firewall',
      hasList: number(argument(message, AT.hasList)) !== 0,
      policy: number(argument(message, AT.policy)),
    });
    if (reason !== undefined || !policy) return unprepared();
    const denial = judge.access(policy, request);
    if (denial) return toActions(denial);
    if (message.name === 'access') return toActions({ action: 'pass' });
    if (message.name !== 'firewall') throw new Error(`unknown message ${message.name}`);
    return toActions(judge.firewall(policy, request, () => toWafRequest(message, request, policy)));
  };
  return ([message]) => {
    if (!message) throw new Error('no message');
    if (message.name === 'presence') return tellPresence(message);
    const startedAt = performance.now();
    try {
      return decide(message);
    } catch (error) {
      counter.add('unjudged');
      throw error;
    } finally {
      counter.took(performance.now() - startedAt);
    }
  };
};
