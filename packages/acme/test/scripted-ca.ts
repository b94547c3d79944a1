import {
  type AcmeClient,
  type AcmeClientOptions,
  type AcmeRequest,
  type AcmeTransport,
  createAcmeClient,
} from '../src/index.ts';
import { newAccountKey } from './account-key.ts';

export const CA = 'https://ca.example:14000';
export const TOKEN = 'DGyRejmCefe7v4NfDGDKfA';

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** An object becomes JSON. */
  body?: string | object;
}

/** What is asked for under a path, as often as it comes; a list is answered one by one, the last one ever after. */
export type Script = Readonly<
  Record<string, Answer | readonly Answer[] | ((request: AcmeRequest) => Answer | Promise<Answer>)>
>;

export const DIRECTORY = {
  newNonce: `${CA}/nonce`,
  newAccount: `${CA}/account`,
  newOrder: `${CA}/orders`,
  revokeCert: `${CA}/revoke`,
  renewalInfo: `${CA}/renewal`,
};

export const pendingOrder = {
  status: 'pending',
  identifiers: [{ type: 'dns', value: 'a.example' }],
  authorizations: [`${CA}/authorization`],
  finalize: `${CA}/finalize`,
};

export const pendingAuthorization = {
  status: 'pending',
  identifier: { type: 'dns', value: 'a.example' },
  challenges: [{ type: 'http-01', url: `${CA}/challenge`, status: 'pending', token: TOKEN }],
};

const ordinary: Script = {
  '/dir': { body: DIRECTORY },
  '/account': { status: 201, headers: { location: `${CA}/account/1` }, body: { status: 'valid' } },
  '/orders': { status: 201, headers: { location: `${CA}/order` }, body: pendingOrder },
  '/order': { body: pendingOrder },
  '/authorization': { body: pendingAuthorization },
};

/** The payload of a signed request. */
export const payloadOf = ({ body = '{}' }: AcmeRequest): unknown => {
  const { payload = '' } = JSON.parse(body) as { payload?: string };
  return payload === '' ? undefined : JSON.parse(Buffer.from(payload, 'base64url').toString());
};

/**
 * A CA that says what it is told to say: what no real one says, since the client must bear it. Every answer has a fresh nonce.
 * Whether the client speaks ACME at all is what pebble/ is for.
 */
export const scriptedCa = (script: Script = {}) => {
  const asked: AcmeRequest[] = [];
  const counts = new Map<string, number>();
  let nonce = 0;
  const transport: AcmeTransport = async (request) => {
    asked.push(request);
    const { pathname } = new URL(request.url);
    const planned = script[pathname] ?? ordinary[pathname] ?? (pathname === '/nonce' ? {} : { status: 404 });
    const count = counts.get(pathname) ?? 0;
    counts.set(pathname, count + 1);
    const answer: Answer =
      typeof planned === 'function'
        ? await planned(request)
        : Array.isArray(planned)
          ? ((planned as readonly Answer[])[Math.min(count, planned.length - 1)] ?? {})
          : (planned as Answer);
    nonce += 1;
    const { status = 200, body = '' } = answer;
    const type = status >= 400 ? 'application/problem+json' : 'application/json';
    return {
      status,
      headers: new Headers({ 'replay-nonce': `nonce-${nonce}`, 'content-type': type, ...answer.headers }),
      body: typeof body === 'string' ? body : JSON.stringify(body),
    };
  };
  const pauses: number[] = [];
  return {
    asked,
    /** Milliseconds that the client has waited, in its own time. */
    pauses,
    paths: () => asked.map(({ url }) => new URL(url).pathname),
    client(more: Partial<AcmeClientOptions> = {}): AcmeClient {
      return createAcmeClient({
        directoryUrl: `${CA}/dir`,
        accountKey: newAccountKey(),
        transport,
        pause: async (ms) => {
          pauses.push(ms);
        },
        ...more,
      });
    },
  };
};
