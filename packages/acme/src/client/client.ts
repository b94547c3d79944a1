import { X509Certificate } from 'node:crypto';
import { ariCertificateId } from '../certificate/ari-id.ts';
import { type Chain, type Ordered, readChain } from '../certificate/chain.ts';
import { AcmeEnded, AcmeProblem, AcmeProtocolError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AcmeDirectory, Authorization, Order, RenewalInfo } from '../model/objects.ts';
import type { AcmeResponse, AcmeTransport } from '../model/transport.ts';
import { isAddress, normaliseName } from '../names/certificate-name.ts';
import { sameNames } from '../names/same-names.ts';
import { checkToken, readAuthorization } from '../read/authorization.ts';
import { readOrder } from '../read/order.ts';
import { parseDirectoryUrl } from '../read/own-url.ts';
import { readRenewalInfo } from '../read/renewal-info.ts';
import { readRetryAfter } from '../read/retry-after.ts';
import { bindExternally, readAccountKey, recordValue } from '../wire/account-key.ts';
import { createAsk } from '../wire/ask.ts';
import { readCertificateKey } from '../wire/certificate-key.ts';
import { CHAIN_TYPE, createConnection } from '../wire/connection.ts';
import { alternateUrls } from './alternates.ts';
import { authorizationFailure } from './authorization-failure.ts';
import { type Pause, pauseFor, poll } from './poll.ts';

export interface AcmeClientOptions {
  /** https; whatever the directory names must be of the same host and port. */
  directoryUrl: string;
  /** PKCS #8 PEM, EC P-256. */
  accountKey: string;
  /** What `register` gave. Without it the CA is asked for the key's account, once. */
  accountUrl?: string;
  transport: AcmeTransport;
  /** Ends everything that is under way; what was waited for rejects with its reason. */
  signal?: AbortSignal;
  pause?: Pause;
  clock?: () => Date;
  /** Who asks (RFC 8555, section 6.1, demands it). */
  userAgent?: string;
  /** Default: `limits.requestTimeoutMs`. */
  requestTimeoutMs?: number;
  /** Default: `limits.pollTimeoutMs`. */
  pollTimeoutMs?: number;
}

export interface Registration {
  email?: string;
  /** Whether the account's owner agrees to the directory's `termsOfService`; false makes most CAs refuse. */
  termsAgreed: boolean;
  /** Key identifier, and HMAC key in base64url, that the CA has given to the account's owner. */
  eab?: { kid: string; hmacKey: string };
}

export interface Revocation {
  /** A code of RFC 5280, section 5.3.1. */
  reason?: number | undefined;
  /** The certificate's own key, PEM, to sign with instead of the account's: it proves that it is in other hands. */
  keyPem?: string | undefined;
}

export interface NewOrder {
  /** DNS names, with `*.` for a wildcard, and IP addresses. */
  names: readonly string[];
  /** `ariCertificateId` of the certificate that this one is to follow; left out where the CA does not know ARI. */
  replaces?: string | undefined;
  /** One of the directory's `profiles`. */
  profile?: string | undefined;
}

/**
 * What a CA does for an account. Every method rejects with `AcmeProblem` (the CA refuses), `AcmeUnreachable` (later, perhaps),
 * `AcmeProtocolError` (its answer can't be believed), or the reason of the signal that ended it.
 */
export interface AcmeClient {
  /** Asked for once per client. */
  directory(): Promise<AcmeDirectory>;
  /** Makes an account; a key that has one gets that one. */
  register(registration: Registration): Promise<{ accountUrl: string }>;
  /** The key's account; undefined when the CA knows none. */
  findAccount(): Promise<{ accountUrl: string } | undefined>;
  /** For good: the key can do nothing afterwards. */
  deactivateAccount(): Promise<void>;
  /** A CA may return an order of before that is not finished. When it says that `replaces` has a successor, the order is made without. */
  newOrder(order: NewOrder): Promise<Order>;
  order(url: string): Promise<Order>;
  authorization(url: string): Promise<Authorization>;
  /** What a GET of `/.well-known/acme-challenge/TOKEN` has to answer. */
  keyAuthorization(token: string): Promise<string>;
  /** What the TXT record `_acme-challenge.NAME` has to hold. */
  dnsRecordValue(token: string): Promise<string>;
  /** Tells the CA to look. */
  startChallenge(url: string): Promise<void>;
  /** Resolves once it is valid; rejects with the `AcmeProblem` of what failed, or `AcmeEnded`. Honours Retry-After. */
  waitForAuthorization(url: string): Promise<Authorization>;
  /** Hands in the request for the certificate. Rejects with `orderNotReady` before all authorizations are valid. */
  finalize(order: Pick<Order, 'url' | 'finalize'>, csrDer: Uint8Array): Promise<Order>;
  /** Resolves once it is `ready` to be finalized, or `valid` and has its certificate; rejects like `waitForAuthorization`. */
  waitForOrder(url: string): Promise<Order>;
  /**
   * The chain at an order's `certificate`, PEM, leaf first: checked to be for this key and these names, not expired, each certified by the
   * next. `preferredRoot`: the common name of the root that the chain should lead to, if the CA offers it.
   */
  certificate(url: string, ordered: Ordered & { preferredRoot?: string | undefined }): Promise<string>;
  /** When the CA wants it renewed (ARI, RFC 9773); undefined where it does not say such things. */
  renewalInfo(leafPem: string): Promise<RenewalInfo | undefined>;
  /**
   * Has a certificate revoked (RFC 8555, section 7.6), signed with the account's key, or with the certificate's own: its holder needs no account.
   * Tells whether it was revoked already, which is no error.
   */
  revoke(leafPem: string, how?: Revocation): Promise<'revoked' | 'was revoked'>;
}

const identifier = (name: string) => ({ type: isAddress(name) ? 'ip' : 'dns', value: normaliseName(name) });

const isKind = (error: unknown, kind: string): boolean => error instanceof AcmeProblem && error.is(kind);

/** A client for one account of one CA. Throws `AcmeProtocolError` for a directory's URL, and `TypeError` for a key, that can't be one. */
export const createAcmeClient = (options: AcmeClientOptions): AcmeClient => {
  const { transport, signal, pause = pauseFor, clock = () => new Date(), userAgent = '@sallyport/acme' } = options;
  const { requestTimeoutMs = limits.requestTimeoutMs, pollTimeoutMs = limits.pollTimeoutMs } = options;
  const directoryUrl = parseDirectoryUrl(options.directoryUrl);
  const key = readAccountKey(options.accountKey);
  const ask = createAsk({ transport, userAgent, requestTimeoutMs, signal });
  const { ownUrl, directory, post, postBy, get } = createConnection({ directoryUrl, key, ask, clock });
  const polling = { pause, clock, signal, pollTimeoutMs };
  const own = (url: string, what: string) => ownUrl(url, directoryUrl.href, what);
  let accountUrl = options.accountUrl === undefined ? undefined : own(options.accountUrl, 'the account');

  const locationOf = (response: AcmeResponse, from: string, what: string): string =>
    ownUrl(response.headers.get('location') ?? undefined, from, what);

  const askForAccount = async (payload: object): Promise<{ accountUrl: string }> => {
    const { newAccount } = await directory();
    accountUrl = locationOf(await post(newAccount, payload, undefined), newAccount, 'the new account');
    return { accountUrl };
  };

  /** Signed with the account's own URL, which the CA is asked for when nobody has told it. */
  const postAs = async (url: string, payload?: unknown, accept?: string): Promise<AcmeResponse> => {
    const account = accountUrl ?? (await askForAccount({ onlyReturnExisting: true })).accountUrl;
    return post(own(url, 'what was asked for'), payload, account, accept);
  };

  const requestOrder = async (payload: object): Promise<Order> => {
    const { newOrder } = await directory();
    const response = await postAs(newOrder, payload);
    return readOrder(response.body, locationOf(response, newOrder, 'the new order'), ownUrl);
  };

  const retryAfterOf = ({ headers }: AcmeResponse) => readRetryAfter(headers.get('retry-after'), clock());

  const downloadChain = async (url: string, ordered: Ordered): Promise<Chain & { others: string[] }> => {
    const response = await postAs(url, undefined, CHAIN_TYPE);
    const chain = readChain(response.body, ordered, url, clock());
    return { ...chain, others: alternateUrls(response.headers.get('link'), url) };
  };

  return {
    directory,

    async register({ email, termsAgreed, eab }) {
      const { newAccount } = await directory();
      return askForAccount({
        ...(email === undefined || email === '' ? {} : { contact: [`mailto:${email}`] }),
        ...(termsAgreed ? { termsOfServiceAgreed: true } : {}),
        ...(eab === undefined ? {} : { externalAccountBinding: await bindExternally(key, eab, newAccount) }),
      });
    },

    async findAccount() {
      try {
        return await askForAccount({ onlyReturnExisting: true });
      } catch (error) {
        if (isKind(error, 'accountDoesNotExist')) return undefined;
        throw error;
      }
    },

    async deactivateAccount() {
      const account = accountUrl ?? (await askForAccount({ onlyReturnExisting: true })).accountUrl;
      await postAs(account, { status: 'deactivated' });
    },

    async newOrder({ names, replaces, profile }) {
      const { renewalInfo } = await directory();
      const payload = { identifiers: names.map(identifier), ...(profile === undefined ? {} : { profile }) };
      let order: Order;
      try {
        order = await requestOrder(replaces && renewalInfo ? { ...payload, replaces } : payload);
      } catch (error) {
        if (replaces === undefined || !isKind(error, 'alreadyReplaced')) throw error;
        order = await requestOrder(payload);
      }
      if (!sameNames(order.names, names)) {
        throw new AcmeProtocolError(
          order.url,
          `the order is for other names than those asked for: ${order.names.slice(0, 5).join(', ')}`,
        );
      }
      return order;
    },

    order: async (url) => readOrder((await postAs(url)).body, own(url, 'the order'), ownUrl),

    authorization: async (url) => readAuthorization((await postAs(url)).body, own(url, 'the authorization'), ownUrl),

    keyAuthorization: async (token) => key.keyAuthorization(checkToken(token, directoryUrl.href)),

    dnsRecordValue: async (token) => recordValue(await key.keyAuthorization(checkToken(token, directoryUrl.href))),

    async startChallenge(url) {
      await postAs(url, {});
    },

    waitForAuthorization: (url) =>
      poll(polling, url, async () => {
        const response = await postAs(url);
        const authorization = readAuthorization(response.body, url, ownUrl);
        if (authorization.status === 'valid') return { decided: authorization, retryAfter: undefined };
        if (authorization.status !== 'pending') throw authorizationFailure(authorization);
        return { decided: undefined, retryAfter: retryAfterOf(response) };
      }),

    async finalize({ url, finalize }, csrDer) {
      const response = await postAs(finalize, { csr: Buffer.from(csrDer).toString('base64url') });
      return readOrder(response.body, url, ownUrl);
    },

    waitForOrder: (url) =>
      poll(polling, url, async () => {
        const response = await postAs(url);
        const order = readOrder(response.body, url, ownUrl);
        if (order.status === 'ready' || order.status === 'valid') return { decided: order, retryAfter: undefined };
        if (order.status === 'invalid') {
          throw order.error
            ? new AcmeProblem(order.error, url, { isVerdict: true })
            : new AcmeEnded(url, 'the order', 'invalid');
        }
        return { decided: undefined, retryAfter: retryAfterOf(response) };
      }),

    async certificate(url, { preferredRoot, ...ordered }) {
      const chain = await downloadChain(url, ordered);
      if (preferredRoot === undefined || chain.roots.includes(preferredRoot)) return chain.pem;
      for (const other of chain.others) {
        // A wish; the chain that is there already is good.
        const alternate = await downloadChain(other, ordered).catch(() => signal?.throwIfAborted());
        if (alternate?.roots.includes(preferredRoot)) return alternate.pem;
      }
      return chain.pem;
    },

    async renewalInfo(leafPem) {
      const { renewalInfo } = await directory();
      if (renewalInfo === undefined) return undefined;
      const url = `${renewalInfo.replace(/\/$/, '')}/${ariCertificateId(leafPem)}`;
      const response = await get(url);
      return readRenewalInfo(response.body, response.headers.get('retry-after'), url, clock());
    },

    async revoke(leafPem, { reason, keyPem } = {}) {
      const { revokeCert } = await directory();
      if (revokeCert === undefined)
        throw new AcmeProtocolError(directoryUrl.href, 'the CA has no way to revoke certificates');
      const certificate = new X509Certificate(leafPem).raw.toString('base64url');
      const payload = reason === undefined ? { certificate } : { certificate, reason };
      try {
        if (keyPem === undefined) await postAs(revokeCert, payload);
        else await postBy(readCertificateKey(keyPem), revokeCert, payload);
        return 'revoked';
      } catch (error) {
        if (!isKind(error, 'alreadyRevoked')) throw error;
        return 'was revoked';
      }
    },
  };
};
