import { type IncomingHttpHeaders, request } from 'node:http';
import { request as requestTls } from 'node:https';
import { connect } from 'node:net';

export type Answer = { status: number; headers: IncomingHttpHeaders; body: string; json<T>(): T };

export type Ask = {
  port: number;
  host: string;
  path?: string;
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
  address?: string;
  /** Speak TLS with this server name. */
  tls?: boolean;
};

/** One HTTP/1.1 request on a connection of its own. */
export const ask = ({
  port,
  host,
  path = '/',
  method = 'GET',
  headers = {},
  body,
  address = '127.0.0.1',
  tls,
}: Ask): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = { host: address, port, path, method, headers: { host, ...headers }, agent: false as const };
    const onAnswer = (response: import('node:http').IncomingMessage): void => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: text,
          json: () => JSON.parse(text),
        });
      });
    };
    const outgoing = tls
      ? requestTls({ ...options, servername: host, rejectUnauthorized: false }, onAnswer)
      : request(options, onAnswer);
    outgoing.on('error', reject);
    outgoing.end(body);
  });

/** Sends raw bytes and returns everything that came back before the connection was closed. */
export const exchange = (port: number, bytes: string, address = '127.0.0.1'): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, address, () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
