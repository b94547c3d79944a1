import { expect } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../test/support/certificates.ts';
import { createGiven } from './given-accounts.ts';
import { type DatabaseKind, startApp } from './start-app.ts';

export type Fields = Record<string, unknown>;

export const RESOURCES = [
  'proxy host',
  'remote server',
  'access list',
  'DNS provider',
  'user',
  'certificate',
  'token',
  'decision',
  'ruleset',
] as const;

/** An object of a resource: how it is made (resolves with where it is then), and a change of it where there is one. */
interface Resource {
  make: () => Promise<string>;
  change?: Fields;
  /** The field of the answer that holds it; undefined: the answer is the object. */
  wrapped?: string;
}

/** What is needed of a proxy host. */
export const host = (domain: string, more: Fields = {}) => ({
  domain,
  forward_host: '127.0.0.1',
  forward_port: 9,
  ...more,
});

/** Starts the service, in which an administrator makes objects of each resource. */
export const startWithResources = async (kind: DatabaseKind) => {
  const app = await startApp(kind);
  const admin = await createGiven(app).administrator();

  const send = <T = Fields>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    app.send<T>(method, path, body, { ...admin.headers, ...headers });

  const given = async (path: string, body: unknown): Promise<Fields> => {
    const answer = await send('POST', path, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    return answer.body;
  };

  let counter = 0;
  const count = () => {
    counter += 1;
    return counter;
  };

  const resources: Record<(typeof RESOURCES)[number], Resource> = {
    'proxy host': {
      make: async () => `/proxy-hosts/${(await given('/proxy-hosts', host(`h${count()}.example.com`))).uuid}`,
      change: { name: 'changed' },
    },
    'remote server': {
      make: async () =>
        `/remote-servers/${(await given('/remote-servers', { name: 'm', host: '127.0.0.1', port: 9 })).id}`,
      change: { name: 'changed' },
    },
    'access list': {
      make: async () => `/access-lists/${(await given('/access-lists', { name: `l${count()}`, type: 'deny' })).uuid}`,
      change: { description: 'changed' },
    },
    'DNS provider': {
      make: async () => {
        const hook = { name: `d${count()}`, type: 'webhook', fields: { url: 'https://dns.example.com/' } };
        return `/dns-providers/${(await given('/dns-providers', hook)).uuid}`;
      },
      change: { fields: { url: 'https://dns.example.com/changed' } },
    },
    user: {
      make: async () =>
        `/users/${(await given('/users', { email: `u${count()}@example.com`, password: 'a long password' })).id}`,
      change: { name: 'changed' },
    },
    certificate: {
      make: async () => {
        const names = [`c${count()}.example.com`];
        return `/certificates/${(await given('/certificates/upload', uploadForm('c', makeCertificate(names)))).id}`;
      },
    },
    token: { make: async () => `/tokens/${(await given('/tokens', { name: 't' })).id}` },
    decision: {
      make: async () => {
        const { decision } = await given('/security/decisions', { ip: `198.51.100.${count()}`, action: 'block' });
        return `/security/decisions/${(decision as Fields).uuid}`;
      },
      wrapped: 'decision',
    },
    ruleset: {
      make: async () => {
        const rules = { name: `r${count()}`, content: 'SecAction "id:100001,phase:1,pass"', mode: 'custom' };
        const { ruleset } = (await send('POST', '/security/rulesets', rules)).body;
        return `/security/rulesets/${(ruleset as Fields).id}`;
      },
      wrapped: 'ruleset',
    },
  };

  return { app, send, given, resources };
};
