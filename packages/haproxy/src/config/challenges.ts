import { dataPlaneFiles } from './layout.ts';
import { rememberRequest } from './log-format.ts';

/** Where a certificate authority asks for the answer to its challenge (RFC 8555, 8.3). */
const directory = '/.well-known/acme-challenge/';

/** What the log says of requests that were answered so. */
const answered = 'acme-challenge';

/** An anonymous condition: the path is one that a certificate authority asks for. */
export const asksForChallenge = `{ path -m beg ${directory} }`;

/** Finds these paths, and more, in URLs of any form (PCRE). */
export const challengePattern = directory.replace('.', '[.]');

/**
 * Answers challenges of certificate authorities, before anything is asked about the host or the client: a host that is unknown, closed or
 * guarded gets its certificate like any other. Most requests have left the rules by then: what takes them out looks for these paths where it
 * looks for probes, so that they pay nothing. The map is asked only for these paths. What is in no line of it goes its way, so that an origin
 * can have a client of its own, and an empty map answers nobody.
 */
export const challenges = (): string => `\
  # Challenges that are answered here; what is, was not routed. METH_GET is HEAD as well.
  acl answers_challenge path,map_str(${dataPlaneFiles.challengesMap}),set-var(txn.challenge),unset-var(txn.flags) -m found
  http-request allow if ${asksForChallenge} METH_GET answers_challenge

`;

/** The `use_backend` rule of what is answered so: without flags, no rule before takes it. */
export const challengeBackend = (): string => `\
  use_backend challenges if { var(txn.challenge) -m found }
`;

/** The answer is the map's line, and nothing of the request. A refusal by name, because HAProxy logs no other answer of its own below 500. */
export const challengeSection = (): string => `
# Certificate authorities get their answer. No process but this one has a part in it.
backend challenges
  http-request set-var(txn.answered) str(${answered})
${rememberRequest()}\
  http-request set-log-level notice
  http-request deny status 200 content-type application/octet-stream lf-string %[var(txn.challenge)] hdr Cache-Control no-store hdr X-Content-Type-Options nosniff
`;

/** An answer to a challenge; `keyAuthorization` is the token, a dot and the account key's thumbprint (RFC 8555, 8.1). */
export type ChallengeAnswer = { token: string; keyAuthorization: string };

const tokenShape = /^[A-Za-z0-9_-]{1,128}$/;
const thumbprintShape = /^[A-Za-z0-9_-]{1,128}$/;

/** Whether this can be a token. */
export const isChallengeToken = (text: string): boolean => tokenShape.test(text);

/** Whether this is what a certificate authority may be answered: nobody gets words of another's choice served under every name. */
export const isChallengeAnswer = ({ token, keyAuthorization }: ChallengeAnswer): boolean =>
  isChallengeToken(token) &&
  keyAuthorization.startsWith(`${token}.`) &&
  thumbprintShape.test(keyAuthorization.slice(token.length + 1));

/** The line of acme-challenges.map for an answer: path and body. Throws for anything that is none. */
export const challengeEntry = (answer: ChallengeAnswer): [string, string] => {
  if (!isChallengeAnswer(answer)) throw new Error('not an answer to a challenge');
  return [`${directory}${answer.token}`, answer.keyAuthorization];
};
