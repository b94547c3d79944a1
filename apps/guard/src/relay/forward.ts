import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { type Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { endToEnd, type FlatHeaders } from '../headers.ts';
import { type AnswerStart, readAnswerStart } from './answer-start.ts';
import type { HeldBody } from './held-body.ts';
import { NoAnswer } from './no-answer.ts';
import type { Place } from './places.ts';
import { switchProtocols } from './upgrade.ts';

// Not an import, which would load a second HTTP client (docs/decisions/0009-memory-at-rest.md).
const { Agent, request } = process.getBuiltinModule('node:http');

const PART_BYTES = 65_536;
/** Names that only we may give to HAProxy. */
const OURS = new Set(['x-sallyport-refused']);
/** What the relay was told, and what it says anew. */
const NOT_FORWARDED = new Set(['x-sallyport-client', 'x-sallyport-judge', 'x-sallyport-inspect', 'content-length']);
/** What is inspected has to be readable, so the origin is not offered to compress it. */
const NOT_FORWARDED_WHEN_INSPECTED = new Set([...NOT_FORWARDED, 'accept-encoding']);

/** Judges an answer; returns whether it may be passed on, having answered the client itself when not. */
export type InspectAnswer = (answer: IncomingMessage, start: AnswerStart | undefined) => Promise<boolean>;

/** A judged request on its way to its origin. */
export interface Outgoing {
  incoming: IncomingMessage;
  /** Address of the client, for HAProxy to look up once more. */
  client: string;
  /** Undefined for a request that asks for another protocol: it has none. */
  body: HeldBody | undefined;
  response: ServerResponse;
  place: Place;
  /** Undefined: the answer is passed on as it is. */
  inspect: InspectAnswer | undefined;
  /** The client's connection, when it asks for another protocol. */
  socket: Duplex | undefined;
}

/** What came back: an answer, or a connection that speaks another protocol from here on. */
type Answered = { upstream: IncomingMessage; switched: Duplex | undefined };

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

/** Hands judged requests back to HAProxy, which takes them to their origin. */
export const createForwarder = (socketPath: string) => {
  // How many there may be is decided by who gets a place.
  const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 });

  const send = ({ incoming, client, body, inspect, socket }: Outgoing, isStreamed: boolean): ClientRequest => {
    const headers = endToEnd(incoming.rawHeaders, inspect ? NOT_FORWARDED_WHEN_INSPECTED : NOT_FORWARDED);
    headers.push('X-Sallyport-Client', client);
    if (hasBody(incoming)) headers.push('Content-Length', String(body?.bytes ?? 0));
    if (socket) headers.push('Connection', 'Upgrade', 'Upgrade', 'websocket');
    // HAProxy may refuse the client by now, and closes then: who is still writing would not read why.
    if (isStreamed) headers.push('Expect', '100-continue');
    return request({
      // A body may be answered before it was read to its end. HAProxy from 3.0 on then reads nothing more from that connection, without
      // closing it: whoever were sent over it next would wait for a minute.
      agent: hasBody(incoming) ? false : agent,
      socketPath,
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers,
      // Node would add a Host of its own.
      setDefaultHeaders: false,
    });
  };

  const answered = (outgoing: ClientRequest): Promise<Answered> =>
    new Promise((resolve, reject) => {
      outgoing.once('response', (upstream) => resolve({ upstream, switched: undefined }));
      outgoing.once('upgrade', (upstream, switched, head: Buffer) => {
        if (head.length > 0) switched.unshift(head);
        resolve({ upstream, switched });
      });
      outgoing.on('error', (cause) => reject(new NoAnswer('HAProxy did not answer', { cause })));
    });

  const sendStream = async (outgoing: ClientRequest, stream: Readable, answer: Promise<Answered>): Promise<void> => {
    const goOn = new Promise<true>((resolve) => outgoing.once('continue', () => resolve(true)));
    outgoing.flushHeaders();
    const first = await Promise.race([goOn, answer]);
    // An origin may answer before it has read everything, and then close.
    if (first === true) await pipeline(stream, outgoing);
    else first.upstream.once('close', () => outgoing.destroy());
  };

  return {
    /** Sends the request on and its answer back, at the speed of the slower side. Rejects with NoAnswer before any of it. */
    async forward(parts: Outgoing): Promise<void> {
      const { body, response, place, inspect, socket } = parts;
      const content = body?.stream();
      const isStreamed = content instanceof Readable;
      const outgoing = send(parts, isStreamed);
      const answer = answered(outgoing);
      let tunnel: Duplex | undefined;
      const abort = (): void => {
        outgoing.destroy();
        // A request that has changed the protocol lets go of its connection.
        tunnel?.destroy();
      };
      response.once('close', abort);
      place.signal.addEventListener('abort', abort);
      place.wait();
      try {
        if (!isStreamed) outgoing.end(content);
        // What was sent is needed no more; the answer may take long.
        const sent = isStreamed ? sendStream(outgoing, content, answer).catch(() => {}) : Promise.resolve();
        void sent.then(() => body?.close());
        const { upstream, switched } = await answer;
        tunnel = switched;
        const headers: FlatHeaders = endToEnd(upstream.rawHeaders, OURS);
        const start = inspect && !switched ? await readAnswerStart(upstream) : undefined;
        if (inspect && !(await inspect(upstream, start))) {
          switched?.destroy();
          outgoing.destroy();
          return;
        }
        place.send(() => response.writableLength > 0);
        if (switched && socket) return await switchProtocols({ socket, response, upstream, switched, headers });
        response.sendDate = false;
        response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage ?? '', headers as string[]);
        // Not all at once, so that a client which takes little is seen to.
        await pipeline(async function* () {
          for (let at = 0; start && at < start.body.length; at += PART_BYTES) {
            yield start.body.subarray(at, at + PART_BYTES);
            place.flowed(PART_BYTES);
          }
          if (!start?.isWhole) {
            for await (const chunk of upstream as AsyncIterable<Buffer>) {
              yield chunk;
              place.flowed(chunk.length);
            }
          }
          if (upstream.rawTrailers.length > 0) response.addTrailers(toPairs(upstream.rawTrailers));
        }, response);
      } catch (error) {
        outgoing.destroy();
        // Without a verdict there is a refusal with its reason, not HAProxy's page about an origin that broke off.
        if (!(response.headersSent || response.destroyed)) throw place.signal.aborted ? place.signal.reason : error;
        // Half an answer must not look like a whole one.
        response.destroy();
      } finally {
        response.removeListener('close', abort);
        place.signal.removeEventListener('abort', abort);
      }
    },
    stop: (): void => agent.destroy(),
  };
};
export type Forwarder = ReturnType<typeof createForwarder>;

const toPairs = (flat: FlatHeaders): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
