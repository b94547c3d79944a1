import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { connect } from 'node:net';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  json<T>(): T;
}

export interface Ask {
  port: number;
  /** The Host header, and the server name in TLS. */
  host?: string;
  path?: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  /** Loopback address to go to. */
  address?: string;
  /** Loopback address to come from. */
  from?: string;
  /** Whose connections are used. */
  agent?: Agent;
  /** Speak TLS, whatever the certificate. */
  tls?: boolean;
  /** Hangs up when aborted. */
  signal?: AbortSignal;
}

/** One HTTP/1.1 request, on a connection of its own unless there is an agent. */
export const ask = ({
  port,
  host = 'guarded.test',
  path = '/',
  method,
  headers = {},
  body,
  address = '127.0.0.1',
  from,
  agent,
  tls = false,
  signal,
}: Ask): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = {
      host: address,
      port,
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { host, ...headers },
      agent: agent ?? (false as const),
      ...(from === undefined ? {} : { localAddress: from }),
      ...(signal === undefined ? {} : { signal }),
    };
    const onAnswer = (response: IncomingMessage): void => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
          json: () => JSON.parse(text),
        }),
      );
      response.once('error', reject);
    };
    const outgoing = tls
      ? requestTls({ ...options, servername: host, rejectUnauthorized: false }, onAnswer)
      : request(options, onAnswer);
    outgoing.once('error', reject);
    outgoing.end(body);
  });

/** Sends raw bytes, part after part, and returns what came back until the connection was closed. */
export const exchange = (
  port: number,
  parts: string | readonly (string | Buffer)[],
  { address = '127.0.0.1' } = {},
): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, address, () => {
      for (const part of [parts].flat()) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    // A peer that has answered may close before it has read everything.
    socket.once('error', (error) => (text === '' ? reject(error) : resolve(text)));
    socket.once('close', () => resolve(text));
  });

/** Sends raw bytes and returns the status line of the answer, whatever is still to be sent by then. */
export const statusLine = (port: number, ...parts: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part, 'latin1');
    });
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
      if (!text.includes('\r\n')) return;
      resolve(text.slice(0, text.indexOf('\r\n')));
      socket.destroy();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed without an answer')));
  });
