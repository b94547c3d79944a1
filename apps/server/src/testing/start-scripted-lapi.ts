import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What is said in place of the right answer. */
export interface LapiAnswer {
  status: number;
  body?: string;
}

export interface LapiQuestion {
  what: string;
  headers: Record<string, unknown>;
  body: unknown;
}

/**
 * What speaks like CrowdSec's local API on a port of loopback, a free one unless it is named, and says whatever it is told to. That we understand the real one is
 * what Debian's proves, in the tests that start it.
 */
export const startScriptedLapi = async (port = 0) => {
  const decisions = new Map<number, object>();
  let [added, deleted] = [[] as object[], [] as object[]];
  let lastId = 0;
  let tokens = 0;
  const questions: LapiQuestion[] = [];
  const scripted: { what: string; answer: LapiAnswer }[] = [];

  const make = (fields: object): number => {
    lastId += 1;
    const decision = { scope: 'Ip', type: 'ban', duration: '4h', scenario: 'x/probing', origin: 'crowdsec', ...fields };
    decisions.set(lastId, { id: lastId, ...decision });
    added.push({ id: lastId, ...decision });
    return lastId;
  };
  const end = (id: number): void => {
    const decision = decisions.get(id);
    decisions.delete(id);
    if (decision) deleted.push({ ...decision, duration: '-1s' });
  };

  const rightAnswer = ({ what, headers, body }: LapiQuestion): LapiAnswer => {
    const [, id] = /^DELETE \/v1\/decisions\/(\d+)$/.exec(what) ?? [];
    if (what === 'GET /health') return { status: 200, body: '{"status":"up"}' };
    if (what.startsWith('GET /v1/decisions/stream')) {
      const told = what.endsWith('?startup=true')
        ? { new: [...decisions.values()], deleted: [] }
        : { new: added, deleted };
      [added, deleted] = [[], []];
      return { status: 200, body: JSON.stringify(told) };
    }
    if (what === 'POST /v1/watchers/login') {
      tokens += 1;
      return { status: 200, body: JSON.stringify({ code: 200, token: `token-${tokens}` }) };
    }
    if (headers.authorization !== `Bearer token-${tokens}`)
      return { status: 401, body: '{"message":"token is expired"}' };
    if (id !== undefined) {
      end(Number(id));
      return { status: 200, body: '{"nbDeleted":"1"}' };
    }
    if (what !== 'POST /v1/alerts') return { status: 404 };
    for (const alert of body as { decisions: object[] }[]) for (const decision of alert.decisions) make(decision);
    return { status: 201, body: '["1"]' };
  };

  const server = createServer(async (request, response) => {
    const sent = await text(request);
    const what = `${request.method} ${request.url}`;
    const question = { what, headers: request.headers, body: sent === '' ? undefined : JSON.parse(sent) };
    questions.push(question);
    const at = scripted.findIndex((one) => what.startsWith(one.what));
    const { status, body } = scripted.splice(at, at < 0 ? 0 : 1)[0]?.answer ?? rightAnswer(question);
    response.writeHead(status).end(body);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** It has decided something: a ban of an address for four hours, unless told otherwise. Returns the id. */
    make,
    /** A decision has ended there. */
    end,
    /** What it has decided, and was told. */
    decisions: () => [...decisions.values()] as { id: number; value: string; origin: string; duration: string }[],
    /** Answers the next questions that begin so, in this order. */
    script: (what: string, ...answers: LapiAnswer[]) =>
      void scripted.push(...answers.map((answer) => ({ what, answer }))),
    /** It answers as it should again. */
    unscript: () => void scripted.splice(0),
    /** Tokens that were given out are no good any more. */
    forgetTokens: () => {
      tokens += 1;
    },
    /** What it was asked since the last call. */
    taken: (): LapiQuestion[] => questions.splice(0),
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
export type ScriptedLapi = Awaited<ReturnType<typeof startScriptedLapi>>;
