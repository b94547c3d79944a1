import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Target } from './ledger.ts';

/** What came of one request through the proxy. */
export interface Exchange {
  domain: string;
  beganAt: number;
  endedAt: number;
  outcome: { answer: Target } | { failure: string };
}

/** One GET through the proxy: which origin answered, none (404), or what went wrong. */
export const request = (port: number, domain: string, agent?: Agent): Promise<Exchange> =>
  new Promise((resolve) => {
    const beganAt = performance.now();
    const end = (outcome: Exchange['outcome']) => resolve({ domain, beganAt, endedAt: performance.now(), outcome });
    const fail = (error: NodeJS.ErrnoException) => end({ failure: error.code ?? error.message });
    const sent = get({ host: '127.0.0.1', port, headers: { host: domain }, ...(agent && { agent }) }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        body += chunk;
      });
      response.on('error', fail);
      response.on('end', () => {
        if (response.statusCode === 200) end({ answer: body });
        else if (response.statusCode === 404) end({ answer: undefined });
        else end({ failure: `status ${response.statusCode}` });
      });
    });
    sent.on('error', fail);
  });

/** Clients that ask for one domain after the other over kept-alive connections, until told to stop. */
export const constantTraffic = async (
  port: number,
  domains: readonly string[],
  clients: number,
  signal: AbortSignal,
): Promise<Exchange[]> => {
  const exchanges: Exchange[] = [];
  const client = async (first: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let turn = first; !signal.aborted; turn += 1) {
      const domain = domains[turn % domains.length];
      if (domain !== undefined) exchanges.push(await request(port, domain, agent));
      await sleep(2);
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: clients }, (_, index) => client(index)));
  return exchanges;
};
