import type { AcmeClient, Authorization, Challenge, Order } from '@sallyport/acme';
import { AcmeEnded, AcmeProblem, AcmeProtocolError, authorizationFailure, isAddress } from '@sallyport/acme';
import type { Logger } from 'pino';
import type { DnsProviderAccess } from '../../dns-providers/access.ts';
import type { DnsChallenge, DnsRecordWriter } from '../../dns-providers/writer.ts';
import type { AcmeChallenges } from '../challenges/service.ts';
import type { AcmeAttempt } from './acme-attempt.ts';
import { CannotOrder, type Unproven, ValidationFailed } from './failure.ts';

export interface ProvingDeps {
  challenges: Pick<AcmeChallenges, 'publish' | 'withdraw'>;
  /** Who writes records, and how a DNS provider is spoken to. */
  dns: { access: (id: number) => Promise<DnsProviderAccess>; records: Pick<DnsRecordWriter, 'rounds' | 'open'> };
  log: Pick<Logger, 'warn'>;
}

/** A name that is to be proven. */
interface Proof {
  /** As it was ordered, with the `*.` of a wildcard. */
  name: string;
  authorization: Authorization;
  challenge: Challenge;
}

/** Names of one order that are asked about at a time. */
const AT_ONCE = 8;

const inTurns = async <T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results: R[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(work))));
  }
  return results;
};

const some = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;

/** What was ordered that an authorization is for; undefined for what was not. */
const orderedName = ({ name, wildcard }: Authorization, ordered: readonly string[]): string | undefined =>
  (wildcard ? [`*.${name}`, name] : [name, `*.${name}`]).find((one) => ordered.includes(one));

/** The challenge by which a name is to be proven. Throws when the authority asks about what was not ordered. */
const proofOf = (authorization: Authorization, type: string, ordered: readonly string[]): Proof => {
  const { url, challenges } = authorization;
  const name = orderedName(authorization, ordered);
  if (name === undefined) {
    throw new AcmeProtocolError(url, `it asks to prove ${authorization.name}, which was not ordered`);
  }
  const challenge = challenges.find((one) => one.type === type);
  if (challenge) return { name, authorization, challenge };
  const offered = challenges.map((one) => one.type).join(', ') || 'none';
  throw new CannotOrder(
    `The authority does not take the challenge ${type} for ${name}, but ${offered}: order with that`,
  );
};

/** Has the authority look, and waits for what it says. Rejects with `ValidationFailed` about all names that it did not find proven. */
const validate = async (client: AcmeClient, proofs: readonly Proof[], signal: AbortSignal): Promise<void> => {
  const outcomes = await inTurns(proofs, async ({ name, authorization, challenge }): Promise<Unproven | undefined> => {
    try {
      // A challenge that is looked at already, before a crash of ours, is not to be begun again.
      if (challenge.status === 'pending') await client.startChallenge(challenge.url);
      await client.waitForAuthorization(authorization.url);
      return undefined;
    } catch (error) {
      signal.throwIfAborted();
      return { name, error: error as Error };
    }
  });
  const failures = outcomes.filter((outcome) => outcome !== undefined);
  if (failures.length === 0) return;
  const isDecided = failures.some(
    ({ error }) => error instanceof AcmeEnded || (error instanceof AcmeProblem && error.isVerdict),
  );
  // Nothing was decided when nobody was reached, or a request was refused: that is no failed validation, of which few are allowed.
  throw isDecided ? new ValidationFailed(failures) : (failures[0]?.error ?? new Error('nothing failed'));
};

const byHttp = async (deps: ProvingDeps, attempt: AcmeAttempt, proofs: readonly Proof[]): Promise<void> => {
  const { client, steps, signal } = attempt;
  const tokens = proofs.map(({ challenge }) => challenge.token);
  const answers = await Promise.all(
    tokens.map(async (token) => ({ token, keyAuthorization: await client.keyAuthorization(token) })),
  );
  try {
    await deps.challenges.publish(answers).catch((error: Error) => {
      throw new CannotOrder(`The proxy could not be told what to answer: ${error.message}`, error);
    });
    await steps.enter(
      'validation',
      `The authority asks for ${some(proofs.map((one) => one.authorization.name))} on port 80.`,
    );
    await validate(client, proofs, signal);
  } finally {
    // A server that is about to end leaves the answers to its successor, which takes the order up; the proxy goes on giving them.
    if (!signal.aborted) {
      // They end by themselves; what the authority said must not be lost over it.
      const left = (err: unknown) => deps.log.warn({ err }, 'answers to challenges stay until their time is over');
      await deps.challenges.withdraw(tokens).catch(left);
    }
  }
};

const byDns = async (deps: ProvingDeps, attempt: AcmeAttempt, proofs: readonly Proof[]): Promise<void> => {
  const { client, row, accountKeyPem, steps, signal } = attempt;
  const { dns_provider_id } = row;
  const { dns } = deps;
  if (dns_provider_id === null)
    throw new CannotOrder('dns-01 needs a DNS provider, and none is named: order it with one');
  const access = await dns.access(dns_provider_id).catch((error: Error) => {
    throw new CannotOrder(`The DNS provider can not be used: ${error.message}`, error);
  });
  const proofOfToken = new Map(proofs.map((proof) => [proof.challenge.token, proof]));
  const challenges: DnsChallenge[] = await Promise.all(
    proofs.map(async ({ authorization, challenge: { token } }) => ({
      domain: authorization.name,
      token,
      value: await client.dnsRecordValue(token),
    })),
  );
  for (const round of await dns.records.rounds(access, challenges)) {
    const names = round.map(({ domain }) => domain);
    await steps.enter(
      'challenge',
      `Writes the records of ${some(names)}, and waits until the zone's servers show them.`,
    );
    const open = await dns.records.open(access, round, { accountKeyPem, signal });
    let left: string | undefined;
    try {
      await steps.enter('validation', `The authority looks at the records of ${some(names)}.`);
      const those = round.map(({ token }) => proofOfToken.get(token)).filter((proof) => proof !== undefined);
      await validate(client, those, signal);
    } finally {
      // It harms nobody: neither what the authority said is lost over it, nor a certificate.
      await open.close().catch((err: Error) => {
        left = err.message;
        deps.log.warn({ err, certificate: row.name }, 'records of a challenge were left in their zone');
      });
    }
    if (left !== undefined) await steps.enter('validation', `Proven, but a record stays in its zone: ${left}`);
  }
};

/** Those of some authorizations that have come to nothing. */
const unprovenOf = (authorizations: readonly Authorization[], ordered: readonly string[]): Unproven[] =>
  authorizations
    .filter(({ status }) => status !== 'pending' && status !== 'valid')
    .map((one) => ({ name: orderedName(one, ordered) ?? one.name, error: authorizationFailure(one) }));

/** Names of an order whose validation has failed, as the authority has it; those of an order that it has forgotten are none. */
export const failedNamesOf = async (
  client: Pick<AcmeClient, 'authorization'>,
  { authorizations, names }: Pick<Order, 'authorizations' | 'names'>,
): Promise<string[]> =>
  new ValidationFailed(unprovenOf(await inTurns(authorizations, client.authorization), names)).invalidNames;

/** Proves all names of an order that are not proven yet; what was published for it is withdrawn whatever comes of it. */
export const proveNames = async (deps: ProvingDeps, attempt: AcmeAttempt, order: Order): Promise<void> => {
  const { client, row, steps } = attempt;
  const type = row.challenge ?? 'http-01';
  await steps.enter('challenge', `Proves the names by ${type}.`);
  const ordered = row.names.split(',');
  const authorizations = await inTurns(order.authorizations, client.authorization);
  const ended = unprovenOf(authorizations, ordered);
  if (ended.length > 0) throw new ValidationFailed(ended);
  const open = authorizations.filter(({ status }) => status === 'pending');
  if (open.length === 0) return;
  const proofs = open.map((authorization) =>
    proofOf(authorization, isAddress(authorization.name) ? 'http-01' : type, ordered),
  );
  if (type === 'dns-01') await byDns(deps, attempt, proofs);
  else await byHttp(deps, attempt, proofs);
};
