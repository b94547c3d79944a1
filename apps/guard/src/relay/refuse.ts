import type { ServerResponse } from 'node:http';
import type { Judgement } from '../judge/judge.ts';
import { Busy } from '../lanes/lanes.ts';
import { SpoolFull } from './held-body.ts';
import { BrokenAnswer } from './no-answer.ts';
import { NoPlace, TooMany, TooSlow } from './places.ts';

/** How long what is left of a refused body is read and thrown away. */
const DRAIN_MS = 2_000;

/**
 * Ends an answer to a request whose body may still be coming in. The connection stays open, for HAProxy to close: a
 * HAProxy that is still sending drops an answer it has just read when the other side closes meanwhile.
 */
const endEarly = (response: ServerResponse): void => {
  const { req: incoming } = response;
  response.end();
  // Who asks for another protocol sends no body.
  if (incoming.complete || incoming.headers.upgrade !== undefined) return;
  incoming.resume();
  const giveUp = setTimeout(() => incoming.destroy(), DRAIN_MS);
  incoming.once('close', () => clearTimeout(giveUp));
};

/** HAProxy makes the page: it only has to be told what to refuse. `origin`: it is the site's fault. */
export const refuse = (response: ServerResponse, layer: 'acl' | 'waf' | 'guard' | 'origin', status: number): void => {
  if (response.headersSent) return void response.destroy();
  response.sendDate = false;
  response.writeHead(status, ['X-Sallyport-Refused', layer, 'Content-Length', '0']);
  endEarly(response);
};

/** Tells what a request was judged to. */
export const refuseJudged = (response: ServerResponse, judgement: Exclude<Judgement, { action: 'pass' }>): void => {
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

/** Tells why a request could not be judged. */
export const refuseUnjudged = (response: ServerResponse, error: unknown): void => {
  if (error instanceof TooSlow) refuse(response, 'guard', 408);
  else if (error instanceof TooMany) refuse(response, 'guard', 429);
  else if (error instanceof SpoolFull) refuse(response, 'guard', 507);
  else if (error instanceof BrokenAnswer) refuse(response, 'origin', 502);
  else refuse(response, 'guard', 503);
};

/** Whether it says something about the guard that this request was not judged; the others are their client's or origin's doing. */
export const isOurFault = (error: unknown): boolean =>
  error instanceof Busy ||
  error instanceof NoPlace ||
  !(error instanceof TooSlow || error instanceof TooMany || error instanceof BrokenAnswer);
