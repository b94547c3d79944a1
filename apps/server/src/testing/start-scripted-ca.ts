import { randomBytes, webcrypto } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { loadX509, x509KeysOf } from '@sallyport/acme';
import { makeCertificate } from '../../../../test/support/certificates.ts';

const DAY_MS = 86_400_000;

/** What is said in place of the right answer. */
export interface ScriptedAnswer {
  status?: number;
  headers?: Record<string, string>;
  body: string;
}

const decoded = (part: string): unknown =>
  part === '' ? undefined : JSON.parse(Buffer.from(part, 'base64url').toString());

/** What was signed, and by whom: an account, or a key that is sent along. */
const readSigned = async (request: IncomingMessage): Promise<{ payload: unknown; isByAccount: boolean }> => {
  let text = '';
  for await (const piece of request) text += String(piece);
  const { payload = '', protected: header = '' } = (text === '' ? {} : JSON.parse(text)) as Record<string, string>;
  const { kid } = (decoded(header) ?? {}) as { kid?: string };
  return { payload: decoded(payload), isByAccount: kid !== undefined };
};

/**
 * An authority on a free port of loopback that believes everybody: its orders are ready at once. It says whatever it is told to, which
 * no real one does; that we speak ACME is what Pebble proves.
 */
export const startScriptedCa = async () => {
  const x509 = await loadX509();
  const { certificate, key } = makeCertificate(['127.0.0.1']);
  const own = x509KeysOf(key);
  const issuer = new x509.X509Certificate(certificate).subjectName;

  const orders: { names: string[]; replaces?: string; chain?: string }[] = [];
  const scripted = new Map<string, ScriptedAnswer | Promise<void>>();
  const revocations: { reason: number | undefined; isByAccount: boolean }[] = [];
  const revoked = new Set<string>();
  const waiting: { what: string; isOver: () => boolean }[] = [];
  let window: { start: Date; end: Date } | undefined;
  let origin = '';

  const sign = async (csr: string, names: readonly string[]): Promise<string> => {
    const { publicKey } = new x509.Pkcs10CertificateRequest(Buffer.from(csr, 'base64url'));
    const leaf = await x509.X509CertificateGenerator.create({
      serialNumber: `40${randomBytes(8).toString('hex')}`,
      issuer,
      notBefore: new Date(Date.now() - DAY_MS),
      notAfter: new Date(Date.now() + 89 * DAY_MS),
      publicKey: await publicKey.export(webcrypto),
      signingKey: own.privateKey,
      signingAlgorithm: own.algorithm,
      extensions: [
        new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value }))),
        await x509.AuthorityKeyIdentifierExtension.create(own.publicKey),
      ],
    });
    return `${leaf.toString('pem')}\n`;
  };

  const orderAt = (number: number) => {
    const { names = [], chain } = orders[number] ?? {};
    return {
      status: chain === undefined ? 'ready' : 'valid',
      identifiers: names.map((value) => ({ type: 'dns', value })),
      authorizations: [`${origin}/authorization`],
      finalize: `${origin}/finalize/${number}`,
      ...(chain === undefined ? {} : { certificate: `${origin}/certificate/${number}` }),
    };
  };

  const begin = (payload: unknown): ScriptedAnswer => {
    const { identifiers, replaces } = payload as { identifiers: { value: string }[]; replaces?: string };
    const number = orders.push({ names: identifiers.map(({ value }) => value), ...(replaces && { replaces }) }) - 1;
    return { status: 201, headers: { location: `${origin}/order/${number}` }, body: JSON.stringify(orderAt(number)) };
  };

  const revoke = (certificate: string): ScriptedAnswer => {
    const isRevoked = revoked.has(certificate);
    revoked.add(certificate);
    const problem = { type: 'urn:ietf:params:acme:error:alreadyRevoked', detail: 'it is revoked' };
    const headers = { 'content-type': 'application/problem+json' };
    return isRevoked ? { status: 400, headers, body: JSON.stringify(problem) } : { body: '' };
  };

  const answer = async (what: string, number: number, payload: unknown): Promise<ScriptedAnswer> => {
    switch (what) {
      case 'directory': {
        const names = {
          ...{ newNonce: 'nonce', newAccount: 'account', newOrder: 'orders', renewalInfo: 'renewal' },
          revokeCert: 'revoke',
        };
        const urls = Object.entries(names).map(([name, path]) => [name, `${origin}/${path}`]);
        return { body: JSON.stringify(Object.fromEntries(urls)) };
      }
      case 'nonce':
        return { body: '' };
      case 'revoke':
        return revoke((payload as { certificate: string }).certificate);
      case 'account':
        return { status: 201, headers: { location: `${origin}/account/1` }, body: '{"status":"valid"}' };
      case 'orders':
        return begin(payload);
      case 'order':
        return { body: JSON.stringify(orderAt(number)) };
      case 'finalize': {
        const order = orders[number];
        if (order) order.chain = await sign((payload as { csr: string }).csr, order.names);
        return { body: JSON.stringify(orderAt(number)) };
      }
      case 'certificate':
        return {
          headers: { 'content-type': 'application/pem-certificate-chain' },
          body: orders[number]?.chain ?? '',
        };
      case 'renewal': {
        const suggestedWindow = window && { start: window.start.toISOString(), end: window.end.toISOString() };
        return suggestedWindow ? { body: JSON.stringify({ suggestedWindow }) } : { status: 404, body: '{}' };
      }
      default:
        return { status: 404, body: '{}' };
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const { payload, isByAccount } = await readSigned(request);
    const [, what = '', number = ''] = path.split('/');
    if (what === 'revoke') revocations.push({ reason: (payload as { reason?: number }).reason, isByAccount });
    const held = { what, isOver: () => response.writableEnded || response.destroyed };
    waiting.push(held);
    const said = await scripted.get(what);
    const { status = 200, headers, body } = said ?? (await answer(what, Number(number), payload));
    const nonce = randomBytes(16).toString('base64url');
    response.writeHead(status, { 'content-type': 'application/json', 'replay-nonce': nonce, ...headers }).end(body);
  };

  const server = createServer({ cert: certificate, key }, (request, response) => {
    handle(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    /** What an account is added with. */
    account: {
      name: 'Scripted',
      directory_url: `${origin}/directory`,
      ca_certificate: certificate,
      terms_agreed: true,
    },
    /** All orders that were made, in turn. */
    orders: orders as readonly Readonly<(typeof orders)[number]>[],
    /** What was asked to be revoked, in turn. */
    revocations: revocations as readonly Readonly<(typeof revocations)[number]>[],
    /** Has everything below `/WHAT` answered so; a promise: rightly, but not before it resolves; undefined: rightly again. */
    script(what: string, said: ScriptedAnswer | Promise<void> | undefined): void {
      if (said) scripted.set(what, said);
      else scripted.delete(what);
    },
    /** How many who asked for something below `/WHAT` wait for its answer now. */
    waiting: (what: string): number => waiting.filter((one) => one.what === what && !one.isOver()).length,
    /** Proposes when certificates are to be renewed (RFC 9773). */
    propose(start: Date, end: Date): void {
      window = { start, end };
    },
    async stop(): Promise<void> {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};
export type ScriptedCa = Awaited<ReturnType<typeof startScriptedCa>>;
