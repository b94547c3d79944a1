import { AcmeProblem, AcmeProtocolError } from '../model/errors.ts';
import { limits } from '../model/limits.ts';
import type { AcmeDirectory } from '../model/objects.ts';
import type { AcmeResponse } from '../model/transport.ts';
import { readDirectory } from '../read/directory.ts';
import { type OwnUrl, ownUrls } from '../read/own-url.ts';
import type { AccountKey, Signer } from './account-key.ts';
import { type Ask, checkAnswer, contentTypeOf } from './ask.ts';
import { Nonces } from './nonces.ts';

const JSON_TYPE = 'application/json';
export const CHAIN_TYPE = 'application/pem-certificate-chain';

const checkType = (response: AcmeResponse, wanted: string, url: string): void => {
  const contentType = contentTypeOf(response);
  if (contentType === wanted) return;
  throw new AcmeProtocolError(url, `the answer is of type ${JSON.stringify(contentType)} instead of ${wanted}`);
};

export interface Connection {
  ownUrl: OwnUrl;
  /** Asked for once; again only after it failed. */
  directory(): Promise<AcmeDirectory>;
  /** Signed with the account's key; an undefined payload reads (POST-as-GET). `accountUrl` undefined: signed as a new account. */
  post(url: string, payload: unknown, accountUrl: string | undefined, accept?: string): Promise<AcmeResponse>;
  /** Signed with another key, which is sent along; without an account. */
  postBy(signer: Signer, url: string, payload: unknown): Promise<AcmeResponse>;
  /** Without an account, JSON. */
  get(url: string): Promise<AcmeResponse>;
}

export interface ConnectionDeps {
  directoryUrl: URL;
  key: AccountKey;
  ask: Ask;
  clock: () => Date;
}

/** Speaks the protocol's envelope (RFC 8555, section 6): signatures, nonces, content types, URLs of the CA's own host. */
export const createConnection = ({ directoryUrl, key, ask, clock }: ConnectionDeps): Connection => {
  const ownUrl = ownUrls(directoryUrl);
  const nonces = new Nonces();
  let asked: Promise<AcmeDirectory> | undefined;

  const get = async (url: string): Promise<AcmeResponse> => {
    const response = await ask({ method: 'GET', url, headers: { accept: JSON_TYPE } });
    checkAnswer(response, url, clock());
    checkType(response, JSON_TYPE, url);
    return response;
  };

  const directory = (): Promise<AcmeDirectory> => {
    asked ??= get(directoryUrl.href).then(({ body }) => readDirectory(body, directoryUrl.href, ownUrl));
    asked.catch(() => {
      asked = undefined;
    });
    return asked;
  };

  const freshNonce = async (): Promise<string> => {
    const { newNonce: url } = await directory();
    const response = await ask({ method: 'HEAD', url, headers: {} });
    checkAnswer(response, url, clock());
    nonces.keep(response.headers.get('replay-nonce'));
    const nonce = nonces.take();
    if (nonce === undefined) throw new AcmeProtocolError(url, 'the answer has no nonce');
    return nonce;
  };

  const send = async (signer: Signer, url: string, payload: unknown, kid: string | undefined, accept: string) => {
    const nonce = nonces.take() ?? (await freshNonce());
    const body = await signer.sign(payload, { url, nonce, ...(kid === undefined ? {} : { kid }) });
    const headers = { 'content-type': 'application/jose+json', accept: `${accept}, application/problem+json` };
    const response = await ask({ method: 'POST', url, headers, body });
    const isRefused = response.status >= 400;
    // When one nonce was bad, older ones are, too. That of the refusal itself is fresh.
    if (isRefused) nonces.clear();
    nonces.keep(response.headers.get('replay-nonce'));
    checkAnswer(response, url, clock());
    return response;
  };

  const sendUntilTaken = async (...request: Parameters<typeof send>): Promise<AcmeResponse> => {
    const [, url, , , accept] = request;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await send(...request);
        if (response.body !== '') checkType(response, accept, url);
        return response;
      } catch (error) {
        const isBadNonce = error instanceof AcmeProblem && error.is('badNonce');
        if (!isBadNonce || attempt >= limits.nonceAttempts) throw error;
      }
    }
  };

  return {
    ownUrl,
    directory,
    get,
    post: (url, payload, accountUrl, accept = JSON_TYPE) => sendUntilTaken(key, url, payload, accountUrl, accept),
    postBy: (signer, url, payload) => sendUntilTaken(signer, url, payload, undefined, JSON_TYPE),
  };
};
