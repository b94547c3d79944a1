import { Agent, type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { endToEnd, type FlatHeaders } from './headers.ts';
import type { HeldBody } from './held-body.ts';

/** HAProxy can't be reached, or ended without an answer. */
export class NoAnswer extends Error {
  override name = 'NoAnswer';
}

/** Names that only we may give to HAProxy. */
const OURS = new Set(['x-sallyport-refused']);
/** What the relay was told, and what it says anew. */
const NOT_FORWARDED = new Set(['x-sallyport-client', 'content-length']);

/** Hands judged requests back to HAProxy, which takes them to their origin. */
export const createForwarder = (socketPath: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 512, maxFreeSockets: 32 });

  const send = (incoming: IncomingMessage, body: HeldBody): ClientRequest => {
    const headers = endToEnd(incoming.rawHeaders, NOT_FORWARDED);
    headers.push('Content-Length', String(body.bytes));
    return request({
      agent,
      socketPath,
      method: incoming.method ?? 'GET',
      path: incoming.url ?? '/',
      headers,
      // Node would add a Host of its own.
      setDefaultHeaders: false,
    });
  };

  const answered = (outgoing: ClientRequest): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.once('error', (cause) => reject(new NoAnswer('HAProxy did not answer', { cause })));
    });

  return {
    /** Sends the request on and its answer back, at the speed of the slower side. Rejects with NoAnswer before any of it. */
    async forward(incoming: IncomingMessage, body: HeldBody, response: ServerResponse): Promise<void> {
      const outgoing = send(incoming, body);
      const answer = answered(outgoing);
      const abort = (): void => void outgoing.destroy();
      response.once('close', abort);
      const stream = body.stream();
      if (stream instanceof Buffer) outgoing.end(stream);
      // An origin may answer before it has read everything, and then close.
      else pipeline(stream, outgoing).catch(() => {});
      const upstream = await answer;
      const headers: FlatHeaders = endToEnd(upstream.rawHeaders, OURS);
      response.sendDate = false;
      response.writeHead(upstream.statusCode ?? 502, upstream.statusMessage ?? '', headers as string[]);
      try {
        upstream.once('end', () => {
          if (upstream.rawTrailers.length > 0) response.addTrailers(toPairs(upstream.rawTrailers));
        });
        await pipeline(upstream, response);
      } catch {
        // Half an answer must not look like a whole one.
        response.destroy();
      } finally {
        response.removeListener('close', abort);
      }
    },
    stop: (): void => agent.destroy(),
  };
};
export type Forwarder = ReturnType<typeof createForwarder>;

const toPairs = (flat: FlatHeaders): [string, string][] =>
  Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] ?? '', flat[2 * i + 1] ?? '']);
