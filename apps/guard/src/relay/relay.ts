import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { clientPrefix } from '@sallyport/access';
import type { GuardBlock } from '@sallyport/contract';
import { toRawHeaders, withoutHeaders } from '../headers.ts';
import type { Judged, JudgeRequests } from '../judge/judge.ts';
import { type Question, whyUnprepared } from '../judge/prepared.ts';
import type { Lanes, Spoken } from '../lanes/lanes.ts';
import type { Policy } from '../policy/policy.ts';
import { blockRecord } from '../tell/block-record.ts';
import type { Counter } from '../tell/counts.ts';
import type { CrossingBody, CrossingResponse, RelayedRequest } from '../threads/protocol.ts';
import type { AnswerStart } from './answer-start.ts';
import type { Forwarder, InspectAnswer } from './forward.ts';
import { type BodyHolder, BodyTooLarge, type HeldBody } from './held-body.ts';
import { NoAnswer } from './no-answer.ts';
import type { Place, Places } from './places.ts';
import { isOurFault, refuse, refuseJudged, refuseUnjudged } from './refuse.ts';
import { responseFor } from './upgrade.ts';

/** Headers between HAProxy and the relay, which no client has sent. */
const INTERNAL = new Set([
  'x-sallyport-route',
  'x-sallyport-reference',
  'x-sallyport-client',
  'x-sallyport-judge',
  'x-sallyport-inspect',
]);

const NO_BODY: CrossingBody = { bytes: 0, file: undefined, blocks: [] };
const PASSED: Spoken['judgement'] = { action: 'pass' };

export interface RelayDeps {
  policy: () => Policy | undefined;
  /** Whether this guard has anything to say, if only that it has nothing to judge by: that is a refusal, not a guard that is away. */
  isReady: () => boolean;
  judge: Pick<JudgeRequests, 'access'>;
  lanes: Lanes;
  counter: Counter;
  counted(): void;
  tell(block: GuardBlock): void;
  bodies: BodyHolder;
  places: Places;
  forwarder: Forwarder;
}

/** A request, its answer, and the client's connection when it asks for another protocol. */
type Visit = { incoming: IncomingMessage; response: ServerResponse; socket: Duplex | undefined };

const headerOf = (incoming: IncomingMessage, name: string): string => {
  const value = incoming.headers[name];
  return typeof value === 'string' ? value : '';
};

/** What HAProxy has told about the request. Throws when it has not. */
const toRelayed = (incoming: IncomingMessage): RelayedRequest & { client: string } => {
  const hostId = Number(headerOf(incoming, 'x-sallyport-route').split('|')[4]);
  const addresses = headerOf(incoming, 'x-sallyport-client').split(' ');
  const [client] = addresses;
  if (!Number.isSafeInteger(hostId) || hostId < 1 || !client) throw new Error('no host or client');
  return {
    reference: headerOf(incoming, 'x-sallyport-reference'),
    hostId,
    client,
    addresses,
    method: incoming.method ?? '',
    uri: incoming.url ?? '',
    headers: withoutHeaders(incoming.rawHeaders, INTERNAL),
  };
};

/** What HAProxy wants to know of the request. Throws when it has not said so. */
const toQuestion = (incoming: IncomingMessage, hostId: number): Question => {
  const [, list, policy] = /^(\d+) (\d+)$/.exec(headerOf(incoming, 'x-sallyport-judge')) ?? [];
  if (list === undefined) throw new Error('no word about what to judge');
  return { hostId, hasList: list !== '0', isFirewalled: true, policy: Number(policy) };
};

const toJudged = ({ reference, hostId, client, method, uri, headers }: ReturnType<typeof toRelayed>): Judged => ({
  reference,
  hostId,
  client,
  method: Buffer.from(method, 'latin1'),
  uri: Buffer.from(uri, 'latin1'),
  headers: () => toRawHeaders(headers),
});

const toCrossing = (answer: IncomingMessage, start: AnswerStart | undefined): CrossingResponse => ({
  status: answer.statusCode ?? 0,
  httpVersion: `HTTP/${answer.httpVersion}`,
  headers: answer.rawHeaders,
  body: start?.body ?? null,
  isTruncated: start?.isWhole === false,
});

/** Has requests with long bodies judged, whole, and passes on those that may. */
export const createRelay = (deps: RelayDeps) => {
  const { judge, lanes, counter, counted, tell, bodies, places, forwarder } = deps;
  let lastId = 0;

  const tooLarge = (judged: Judged, response: ServerResponse, bodyLimit: number): void => {
    counter.add('requests');
    counter.add('blocked');
    const reason = `the body has more than ${bodyLimit} bytes`;
    const outcome = { layer: 'waf', monitored: false, status: 413, reason, rule_id: null } as const;
    tell(blockRecord({ ...judged, headers: judged.headers() }, { ...outcome, matches: [] }));
    counted();
    refuse(response, 'waf', 413);
  };

  /** Whether an access list refuses the client, who is then told. Throws when there is nothing to judge by. */
  const isRefused = (policy: Policy | undefined, judged: Judged, response: ServerResponse): boolean => {
    if (!policy) throw new Error('there is no configuration to judge by');
    const denial = judge.access(policy, judged);
    if (!denial || denial.action === 'pass') return false;
    counted();
    refuseJudged(response, denial);
    return true;
  };

  /** Reads the body that comes with a request; undefined when it was refused for its length. */
  const receive = async (
    { incoming, response }: Visit,
    judged: Judged,
    client: string,
    place: Place,
    limit: number,
  ): Promise<HeldBody | undefined> => {
    if (/100-continue/i.test(headerOf(incoming, 'expect'))) response.writeContinue();
    lanes.expect(Number(incoming.headers['content-length'] ?? 0));
    place.receive();
    try {
      return await bodies.hold({ source: incoming, client, signal: place.signal, onBytes: place.flowed, limit });
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      tooLarge(judged, response, limit);
      return undefined;
    } finally {
      place.rest();
    }
  };

  const inspectBy =
    (spoken: Spoken, id: number, response: ServerResponse): InspectAnswer =>
    async (upstream, start) => {
      const { judgement } = await spoken.thread.ask({ type: 'response', id, response: toCrossing(upstream, start) });
      if (judgement.action !== 'pass') refuseJudged(response, judgement);
      return judgement.action === 'pass';
    };

  /** Has a request judged that is there as a whole, and passes it on. */
  const judgeAndForward = async (
    visit: Visit,
    parts: { request: ReturnType<typeof toRelayed>; client: string; place: Place; body: HeldBody | undefined },
  ) => {
    const { incoming, response, socket } = visit;
    const { request, client, place, body } = parts;
    const id = ++lastId;
    const isExchange = headerOf(incoming, 'x-sallyport-inspect') === 'response';
    // Rules may have changed while the body came in.
    const isInspected = deps.policy()?.inspects(request.hostId) ?? true;
    const spoken = isInspected
      ? await lanes.judge(client, { type: 'request', id, request, body: body?.crossing() ?? NO_BODY, isExchange })
      : undefined;
    const { judgement, isOpen } = spoken ?? { judgement: PASSED, isOpen: false };
    try {
      if (judgement.action !== 'pass') return refuseJudged(response, judgement);
      // Who has hung up meanwhile may have been told that nothing happened.
      if (response.destroyed || incoming.socket.destroyed) return;
      const inspect = spoken && isOpen ? inspectBy(spoken, id, response) : undefined;
      await forwarder.forward({ incoming, client: request.client, body, response, place, inspect, socket });
    } finally {
      if (spoken && isOpen) {
        // A client that hangs up early must not be one that no rule has counted.
        spoken.thread.end(id);
        lanes.closed(spoken.thread);
      }
    }
  };

  const pass = async (visit: Visit): Promise<void> => {
    const { incoming, response, socket } = visit;
    const policy = deps.policy();
    const request = toRelayed(incoming);
    const unprepared = whyUnprepared(policy, toQuestion(incoming, request.hostId));
    if (unprepared !== undefined || !policy) throw new Error(unprepared);
    const judged = toJudged(request);
    if (isRefused(policy, judged, response)) return;
    const limit = policy.bodyLimit(request.hostId);
    if (Number(incoming.headers['content-length'] ?? 0) > limit) return tooLarge(judged, response, limit);
    const client = clientPrefix(request.client);
    const place = places.enter(client);
    let body: HeldBody | undefined;
    try {
      if (!socket) {
        body = await receive(visit, judged, client, place, limit);
        if (!body) return;
        // Lists may have changed while it came in.
        if (isRefused(deps.policy(), judged, response)) return;
      }
      await judgeAndForward(visit, { request, client, place, body });
    } finally {
      place.leave();
      await body?.close();
    }
  };

  const visited = (visit: Visit): void => {
    const { incoming, response } = visit;
    pass(visit).catch((error: unknown) => {
      // A client that has gone away was not refused anything.
      if (response.destroyed || (incoming.destroyed && !incoming.complete)) {
        response.destroy();
        return;
      }
      if (!(error instanceof NoAnswer) && isOurFault(error)) counter.add('unjudged');
      counted();
      refuseUnjudged(response, error);
    });
  };

  return {
    onRequest(incoming: IncomingMessage, response: ServerResponse): void {
      if (incoming.url === '/health' && incoming.headers['x-sallyport-route'] === undefined) {
        response.writeHead(deps.isReady() ? 200 : 503).end();
      } else visited({ incoming, response, socket: undefined });
    },

    /** A request that asks for another protocol, which HAProxy hands over without a body only. */
    onUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
      const { headers } = incoming;
      socket.on('error', () => socket.destroy());
      if (headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined) {
        socket.destroy();
        return;
      }
      if (head.length > 0) socket.unshift(head);
      visited({ incoming, response: responseFor(incoming, socket), socket });
    },
  };
};
