import type { X509Certificate } from 'node:crypto';
import { addAbortListener } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { type TLSSocket, connect as tlsConnect } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { answerDeadline } from '@sallyport/deployment/patience';
import { toFailure } from './safe-fetch.ts';

/** Where a proxy takes requests. */
export interface ProxyDoor {
  address: string;
  port: number;
  isTls: boolean;
  /** What each connection begins with: a PROXY protocol header, where one is awaited. */
  preface?: string;
}

export interface SiteAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Of a GET, unpacked; undefined when it is larger than what is read. */
  body: Buffer | undefined;
}

/** What a proxy shows of itself before it is asked anything. */
export interface Greeting {
  certificate: X509Certificate | undefined;
  /** It would speak HTTP/2. */
  offersHttp2: boolean;
}

export interface SiteAnswers {
  head: SiteAnswer;
  get: SiteAnswer;
  /** Of TLS only. */
  greeting: Greeting | undefined;
}

/** A busy machine takes its time; the whole comparison has a limit of its own. */
const REQUEST_MS = 10_000;
const MAX_BODY_BYTES = 128 * 1024;
const MAX_HEADER_BYTES = 32 * 1024;

const HEADERS = {
  accept: '*/*',
  'accept-encoding': 'gzip',
  'user-agent': 'Mozilla/5.0 (compatible; Sallyport import check)',
};

/** Opens a connection, the TLS one without a look at the certificate: what it is is for the caller to tell. */
const open = (door: ProxyDoor, name: string, protocols: string[], signal: AbortSignal): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const tcp = connect({ host: door.address, port: door.port });
    let tls: TLSSocket | undefined;
    const fail = (error: unknown): void => {
      tls?.destroy();
      tcp.destroy();
      reject(error);
    };
    signal.throwIfAborted();
    const listening = addAbortListener(signal, () => fail(signal.reason));
    tcp.once('close', () => {
      listening[Symbol.dispose]();
      reject(new Error('the connection was closed'));
    });
    tcp.on('error', fail);
    tcp.once('connect', () => {
      if (door.preface !== undefined) tcp.write(door.preface);
      if (!door.isTls) return resolve(tcp);
      const servername = isIP(name) === 0 ? { servername: name } : {};
      const secured = tlsConnect({ socket: tcp, rejectUnauthorized: false, ALPNProtocols: protocols, ...servername });
      tls = secured;
      secured.on('error', fail);
      secured.once('secureConnect', () => resolve(secured));
    });
  });

/** What arrives of a body, unpacked; undefined for too much of it, and for what is not what it says to be. */
const unpacked = (chunks: readonly Buffer[], encoding: string | undefined): Buffer | undefined => {
  const body = Buffer.concat(chunks);
  if (encoding !== 'gzip') return body;
  try {
    return gunzipSync(body, { maxOutputLength: 8 * MAX_BODY_BYTES });
  } catch {
    return undefined;
  }
};

const answerOn = async (socket: Socket, method: 'HEAD' | 'GET', name: string, path = '/'): Promise<SiteAnswer> => {
  // Only when it is needed: a module that imports it brings all that it has, WebSockets too, into memory.
  const { request } = await import('node:http');
  return new Promise((resolve, reject) => {
    const host = isIP(name) === 6 ? `[${name}]` : name;
    const sent = request({
      createConnection: () => socket,
      method,
      path,
      headers: { host, ...HEADERS },
      setHost: false,
      maxHeaderSize: MAX_HEADER_BYTES,
    });
    sent.on('error', reject);
    // What it would switch to is nothing that was asked for.
    sent.on('upgrade', () => reject(new Error('the server switches protocols')));
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      const chunks: Buffer[] = [];
      let length = 0;
      response.on('data', (chunk: Buffer) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length > MAX_BODY_BYTES) resolve({ status, headers, body: undefined });
        if (length > MAX_BODY_BYTES) socket.destroy();
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status, headers, body: unpacked(chunks, headers['content-encoding']) }));
    });
    sent.end();
  });
};

/** Runs `work` on a connection of its own, within the time of one request. */
const onConnection = async <T>(
  door: ProxyDoor,
  name: string,
  protocols: string[],
  signal: AbortSignal,
  work: (socket: Socket) => Promise<T> | T,
): Promise<T> => {
  const either = AbortSignal.any([signal, answerDeadline(REQUEST_MS)]);
  let socket: Socket | undefined;
  try {
    socket = await open(door, name, protocols, either);
    return await work(socket);
  } catch (error) {
    throw toFailure(either.aborted ? either.reason : error, REQUEST_MS);
  } finally {
    socket?.destroy();
  }
};

const greet = (door: ProxyDoor, name: string, signal: AbortSignal): Promise<Greeting> =>
  onConnection(door, name, ['h2', 'http/1.1'], signal, (socket) => {
    const secured = socket as TLSSocket;
    return { certificate: secured.getPeerX509Certificate(), offersHttp2: secured.alpnProtocol === 'h2' };
  });

/** GET of a path of a site at a proxy, without following where it leads. Rejects with a `SafeFetchError`. */
export const getSite = (door: ProxyDoor, name: string, signal: AbortSignal, path = '/'): Promise<SiteAnswer> =>
  onConnection(door, name, ['http/1.1'], signal, (socket) => answerOn(socket, 'GET', name, path));

/** HEAD and GET / of a site at a proxy, and what it presents over TLS. Rejects with a `SafeFetchError`. */
export const askSite = async (door: ProxyDoor, name: string, signal: AbortSignal): Promise<SiteAnswers> => {
  const greeting = door.isTls ? await greet(door, name, signal) : undefined;
  const get = await getSite(door, name, signal);
  const head = await onConnection(door, name, ['http/1.1'], signal, (socket) => answerOn(socket, 'HEAD', name));
  return { head, get, greeting };
};
