import { readSync } from 'node:fs';
import type { WafRequest, WafResponse } from '@sallyport/waf';
import { toRawHeaders } from '../headers.ts';
import type { Exchange, Judged, JudgeRequests } from '../judge/judge.ts';
import type { Policy } from '../policy/policy.ts';
import type { Counter } from '../tell/counts.ts';
import type { CrossingBody, CrossingResponse, FromThread, Question, RelayedRequest } from './protocol.ts';

const wholeOf = ({ bytes, file, blocks }: CrossingBody): Uint8Array | null => {
  if (bytes === 0) return null;
  if (!file && blocks.length === 1) return blocks[0] ?? null;
  const whole = Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  while (file && at < file.bytes) {
    const read = readSync(file.descriptor, whole, at, file.bytes - at, at);
    if (read === 0) throw new Error('the spooled body is shorter than it was');
    at += read;
  }
  for (const block of blocks) {
    whole.set(block, at);
    at += block.length;
  }
  return whole;
};

const toJudged = ({ reference, hostId, addresses, method, uri, headers }: RelayedRequest): Judged => {
  const raw = toRawHeaders(headers);
  return {
    reference,
    hostId,
    client: addresses[0] ?? '',
    method: Buffer.from(method, 'latin1'),
    uri: Buffer.from(uri, 'latin1'),
    headers: () => raw,
  };
};

const toWafRequest = (
  judged: Judged,
  { addresses }: RelayedRequest,
  body: CrossingBody,
  policy: Policy,
): WafRequest => {
  const exclusions = policy.exclusions(judged.hostId, judged.uri);
  const [clientAddress = '', clientPort, serverAddress = '0.0.0.0', serverPort] = addresses;
  return {
    method: judged.method,
    uri: judged.uri,
    httpVersion: Buffer.from('HTTP/1.1'),
    headers: judged.headers(),
    body: wholeOf(body),
    clientAddress,
    clientPort: Number(clientPort) || 0,
    serverAddress,
    serverPort: Number(serverPort) || 0,
    uniqueId: judged.reference,
    now: Date.now(),
    ...(exclusions ? { exclusions } : {}),
  };
};

const toWafResponse = ({ status, httpVersion, headers, body, isTruncated }: CrossingResponse): WafResponse => ({
  status,
  httpVersion,
  headers: toRawHeaders(headers),
  body,
  bodyTruncated: isTruncated,
});

export interface JudgeRelayedDeps {
  policy: () => Policy | undefined;
  judge: JudgeRequests;
  counter: Counter;
  counted(): void;
  say(message: FromThread): void;
}

/** Answers the relay's questions in a thread, one after the other. No method throws. */
export const createJudgeRelayed = ({ policy: current, judge, counter, counted, say }: JudgeRelayedDeps) => {
  const open = new Map<number, Exchange>();
  let onIdle: (() => void) | undefined;

  const close = (id: number): void => {
    if (open.delete(id) && open.size === 0) onIdle?.();
  };

  const word = (question: Question): FromThread => {
    const { id } = question;
    if (question.type === 'response') {
      const exchange = open.get(id);
      if (!exchange?.judgeResponse) throw new Error('the request of this answer is not known');
      return { type: 'judged', id, judgement: exchange.judgeResponse(toWafResponse(question.response)), isOpen: true };
    }
    const policy = current();
    if (!policy) throw new Error('there is no configuration to judge by');
    const judged = toJudged(question.request);
    const whole = (): WafRequest => toWafRequest(judged, question.request, question.body, policy);
    const startedAt = performance.now();
    try {
      if (!question.isExchange) {
        return { type: 'judged', id, judgement: judge.firewall(policy, judged, whole), isOpen: false };
      }
      const exchange = judge.exchange(policy, judged, whole);
      const isOpen = exchange.judgeResponse !== undefined;
      if (isOpen) open.set(id, exchange);
      return { type: 'judged', id, judgement: exchange.judgement, isOpen };
    } finally {
      counter.took(performance.now() - startedAt);
    }
  };

  return {
    ask(question: Question): void {
      let message: FromThread;
      try {
        message = word(question);
      } catch (error) {
        message = { type: 'unjudged', id: question.id, reason: String(error).slice(0, 500) };
      }
      counted();
      say(message);
    },

    /** Nothing more will be asked about this exchange: rules about what happened run. */
    end(id: number): void {
      open.get(id)?.end();
      counted();
      close(id);
    },

    /** Resolves when no exchange is open, at the latest after `lingerMs`; those that are open then are ended. */
    async finish(lingerMs: number): Promise<void> {
      if (open.size > 0 && lingerMs > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, lingerMs);
          onIdle = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      for (const exchange of open.values()) exchange.end();
      open.clear();
    },
  };
};
