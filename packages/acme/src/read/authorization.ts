import { AcmeProtocolError } from '../model/errors.ts';
import type { Authorization, Challenge } from '../model/objects.ts';
import { certificateNameProblem, normaliseName } from '../names/certificate-name.ts';
import { isObject, type JsonObject, member, parseObject, readDate, readStatus } from './json.ts';
import type { OwnUrl } from './own-url.ts';
import { readError } from './problem.ts';
import { readText } from './text.ts';

const STATUSES = ['pending', 'valid', 'invalid', 'deactivated', 'expired', 'revoked'] as const;
const CHALLENGE_STATUSES = ['pending', 'processing', 'valid', 'invalid'] as const;
const MAX_CHALLENGES = 20;
/** RFC 8555, section 8.3: base64url of 128 bits or more. Whoever puts it in a path, a map or a record relies on this. */
const TOKEN = /^[A-Za-z0-9_-]{16,256}$/;

/** Throws `AcmeProtocolError` for a token that is not of base64url characters, or too short to be a secret. */
export const checkToken = (token: unknown, url: string): string => {
  if (typeof token === 'string' && TOKEN.test(token)) return token;
  throw new AcmeProtocolError(
    url,
    `a challenge has a token that ACME does not allow: ${JSON.stringify(readText(token, 60))}`,
  );
};

const readChallenge = (challenge: JsonObject, url: string, ownUrl: OwnUrl): Challenge => ({
  type: readText(member(challenge, 'type'), 60),
  url: ownUrl(member(challenge, 'url'), url, 'a challenge'),
  status: readStatus(member(challenge, 'status'), CHALLENGE_STATUSES, url),
  token: checkToken(member(challenge, 'token'), url),
  error: readError(challenge),
});

/** Reads the authorization that is at `url`; throws `AcmeProtocolError` when it is none. */
export const readAuthorization = (body: string, url: string, ownUrl: OwnUrl): Authorization => {
  const document = parseObject(body, url);
  const identifier = member(document, 'identifier');
  const name = isObject(identifier) ? normaliseName(readText(member(identifier, 'value'), 255)) : '';
  const problem = name.startsWith('*') ? 'is a wildcard' : certificateNameProblem(name);
  // A name without a dot is fine with a CA that gives certificates for such.
  if (problem !== undefined && !/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) {
    throw new AcmeProtocolError(url, `the authorization is for a name that ${problem}: ${JSON.stringify(name)}`);
  }
  const challenges = member(document, 'challenges');
  return {
    url,
    name,
    wildcard: member(document, 'wildcard') === true,
    status: readStatus(member(document, 'status'), STATUSES, url),
    challenges: (Array.isArray(challenges) ? challenges.slice(0, MAX_CHALLENGES) : [])
      .filter(isObject)
      // Newer kinds work without one; nothing here can answer them.
      .filter((challenge) => member(challenge, 'token') !== undefined)
      .map((challenge) => readChallenge(challenge, url, ownUrl)),
    expires: readDate(member(document, 'expires')),
  };
};
