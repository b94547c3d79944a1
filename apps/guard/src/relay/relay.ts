import type { IncomingMessage, ServerResponse } from 'node:http';
import type { GuardBlock } from '@sallyport/contract';
import type { RawHeader, WafRequest, WafResponse } from '@sallyport/waf';
import type { Exchange, Judged, Judgement, JudgeRequests } from '../judge/judge.ts';
import type { Policy } from '../policy/policy.ts';
import { blockRecord } from '../tell/block-record.ts';
import type { Counter } from '../tell/counts.ts';
import type { AnswerStart } from './answer-start.ts';
import type { Forwarder, InspectAnswer } from './forward.ts';
import { toRawHeaders } from './headers.ts';
import { type BodyHolder, BodyTooLarge, type HeldBody } from './held-body.ts';
import { NoAnswer } from './no-answer.ts';

/** Headers between HAProxy and the relay, which no client has sent. */
const INTERNAL = new Set(['x-sallyport-route', 'x-sallyport-reference', 'x-sallyport-client', 'x-sallyport-inspect']);

export interface RelayDeps {
  policy: () => Policy | undefined;
  /** Whether there is one, without preparing it. */
  hasPolicy: () => boolean;
  judge: JudgeRequests;
  counter: Counter;
  counted(): void;
  tell(block: GuardBlock): void;
  bodies: BodyHolder;
  forwarder: Forwarder;
  /** Longest body, bytes. */
  bodyLimit: number;
}

interface Relayed extends Judged {
  addresses: readonly string[];
}

const headerOf = (incoming: IncomingMessage, name: string): string => {
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : '';
};

/** What HAProxy has told about the request. Throws when it has not. */
const toRelayed = (incoming: IncomingMessage): Relayed => {
  const hostId = Number(headerOf(incoming, 'x-sallyport-route').split('|')[4]);
  const addresses = headerOf(incoming, 'x-sallyport-client').split(' ');
  const [client] = addresses;
  if (!Number.isSafeInteger(hostId) || hostId < 1 || !client) throw new Error('no host or client');
  let headers: readonly RawHeader[] | undefined;
  return {
    reference: headerOf(incoming, 'x-sallyport-reference'),
    hostId,
    client,
    addresses,
    method: Buffer.from(incoming.method ?? '', 'latin1'),
    uri: Buffer.from(incoming.url ?? '', 'latin1'),
    headers: () => {
      headers ??= toRawHeaders(incoming.rawHeaders, INTERNAL);
      return headers;
    },
  };
};

const toWafRequest = (request: Relayed, policy: Policy, body: HeldBody): WafRequest => {
  const exclusions = policy.exclusions(request.hostId, request.uri);
  const [clientAddress = '', clientPort, serverAddress = '0.0.0.0', serverPort] = request.addresses;
  return {
    method: request.method,
    uri: request.uri,
    httpVersion: Buffer.from('HTTP/1.1'),
    headers: request.headers(),
    body: body.bytes === 0 ? null : body.whole(),
    clientAddress,
    clientPort: Number(clientPort) || 0,
    serverAddress,
    serverPort: Number(serverPort) || 0,
    uniqueId: request.reference,
    now: Date.now(),
    ...(exclusions ? { exclusions } : {}),
  };
};

const toWafResponse = (answer: IncomingMessage, start: AnswerStart | undefined): WafResponse => ({
  status: answer.statusCode ?? 0,
  httpVersion: `HTTP/${answer.httpVersion}`,
  headers: toRawHeaders(answer.rawHeaders, new Set()),
  body: start?.body ?? null,
  bodyTruncated: start?.isWhole === false,
});

/** How long what is left of a refused body is read and thrown away. */
const DRAIN_MS = 2_000;

/**
 * Ends an answer to a request whose body may still be coming in. The connection stays open, for HAProxy to close: a
 * HAProxy that is still sending drops an answer it has just read when the other side closes meanwhile.
 */
const endEarly = (response: ServerResponse): void => {
  const { req: incoming } = response;
  response.end();
  if (incoming.complete) return;
  incoming.resume();
  const giveUp = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.once('close', () => clearTimeout(giveUp));
};

/** HAProxy makes the page: it only has to be told what to refuse. */
const refuse = (response: ServerResponse, layer: 'acl' | 'waf' | 'guard', status: number): void => {
  if (response.headersSent) return void response.destroy();
  response.sendDate = false;
  response.writeHead(status, ['X-Sallyport-Refused', layer, 'Content-Length', '0']);
  endEarly(response);
};

const answer = (response: ServerResponse, judgement: Exclude<Judgement, { action: 'pass' }>): void => {
  switch (judgement.action) {
    case 'deny':
      refuse(response, judgement.layer, judgement.status);
      break;
    case 'drop':
      refuse(response, 'waf', 403);
      break;
    case 'redirect':
      response.writeHead(302, ['Location', judgement.location, 'Content-Length', '0']);
      endEarly(response);
      break;
    default:
      judgement satisfies never;
  }
};

/** Judges requests with long bodies, whole, and passes on those that may. */
export const createRelay = (deps: RelayDeps) => {
  const { judge, counter, counted, tell, bodies, forwarder, bodyLimit } = deps;

  const tooLarge = (request: Relayed, response: ServerResponse): void => {
    counter.add('requests');
    counter.add('blocked');
    const reason = `the body has more than ${bodyLimit} bytes`;
    const outcome = { layer: 'waf', monitored: false, status: 413, reason, rule_id: null, matches: [] } as const;
    tell(blockRecord({ ...request, headers: request.headers() }, { ...outcome, matches: [] }));
    counted();
    refuse(response, 'waf', 413);
  };

  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const policy = deps.policy();
    if (!policy) throw new Error('there is no configuration to judge by');
    const request = toRelayed(incoming);
    const denial = judge.access(policy, request);
    if (denial && denial.action !== 'pass') {
      counted();
      return answer(response, denial);
    }
    if (Number(incoming.headers['content-length'] ?? 0) > bodyLimit) return tooLarge(request, response);
    if (/100-continue/i.test(headerOf(incoming, 'expect'))) response.writeContinue();
    let body: HeldBody;
    try {
      body = await bodies.hold(incoming);
    } catch (error) {
      if (error instanceof BodyTooLarge) return tooLarge(request, response);
      throw error;
    }
    try {
      const startedAt = performance.now();
      // Rules may have changed while the body came in.
      const now = deps.policy() ?? policy;
      const whole = (): WafRequest => toWafRequest(request, now, body);
      const { judgement, judgeResponse, end }: Partial<Exchange> & Pick<Exchange, 'judgement'> =
        headerOf(incoming, 'x-sallyport-inspect') === 'response'
          ? judge.exchange(now, request, whole)
          : { judgement: judge.firewall(now, request, whole) };
      counter.took(performance.now() - startedAt);
      counted();
      if (judgement.action !== 'pass') return answer(response, judgement);
      const inspect: InspectAnswer | undefined =
        judgeResponse &&
        ((upstream, start) => {
          const word = judgeResponse(toWafResponse(upstream, start));
          counted();
          if (word.action !== 'pass') answer(response, word);
          return word.action === 'pass';
        });
      try {
        await forwarder.forward(incoming, body, response, inspect);
      } finally {
        // A client that hangs up early must not be one that no rule has counted.
        end?.();
      }
    } finally {
      await body.close();
    }
  };

  return (incoming: IncomingMessage, response: ServerResponse): void => {
    if (incoming.url === '/health' && incoming.headers['x-sallyport-route'] === undefined) {
      response.writeHead(deps.hasPolicy() ? 200 : 503).end();
      return;
    }
    pass(incoming, response).catch((error: unknown) => {
      // A client that has gone away was not refused anything.
      if (incoming.destroyed && !incoming.complete) {
        response.destroy();
        return;
      }
      if (!(error instanceof NoAnswer)) counter.add('unjudged');
      counted();
      refuse(response, 'guard', 503);
    });
  };
};
