import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The enrolment key that is taken. */
export const TOKEN = 'clq7k2m0h0001jr08good';

interface Asked {
  path: string;
  body: Record<string, unknown>;
  authorization: string | undefined;
  agent: string;
  text: string;
}

export interface Central {
  url: string;
  /** All that it was asked. */
  asked: Asked[];
  /** What it lists of others; undefined: it answers no more. */
  listed: object[] | undefined;
  stop: () => void;
}

/** Answers as CrowdSec's central API does, which knows one enrolment key, and lists `listed` as the bans of others. */
export const startCentral = async (listed: object[] = []): Promise<Central> => {
  const asked: Asked[] = [];
  const central: Central = {
    url: '',
    asked,
    listed,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    const { url: path = '', headers } = request;
    const body: Asked['body'] = text.startsWith('{') ? JSON.parse(text) : {};
    asked.push({ path, body, authorization: headers.authorization, agent: headers['user-agent'] ?? '', text });
    const answer = (status: number, value: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (central.listed === undefined) answer(503, { message: 'away' });
    else if (path === '/v2/watchers/login') {
      answer(200, {
        code: 200,
        expire: new Date(Date.now() + 3_600_000).toISOString(),
        token: 'header.claims.signature',
      });
    } else if (path === '/v2/watchers/enroll' && body.attachment_key !== TOKEN) {
      answer(403, { message: `the attachment key ${String(body.attachment_key)} is not valid` });
    } else if (path.startsWith('/v2/decisions/stream')) answer(200, { new: central.listed, deleted: [] });
    else answer(200, { message: 'OK' });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  central.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return central;
};
