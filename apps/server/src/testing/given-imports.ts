import type {
  ErrorBody,
  ImportOutcome,
  ImportPreview,
  ImportSession,
  ImportSessionReport,
  ImportStatus,
  ProxyHost,
} from '@sallyport/contract';
import { expect } from 'vitest';
import type { TestApp } from './start-app.ts';

/** A site of a Caddyfile. */
export const site = (domain: string, port: number): string => `${domain} {\n\treverse_proxy 127.0.0.1:${port}\n}\n`;

/** Imports, and the hosts that come of them, through the API alone. */
export const createGivenImports = ({ send }: Pick<TestApp, 'send'>) => {
  const status = () => send<ImportStatus>('GET', '/import/status');
  const cancel = (uuid: string) => send<ErrorBody>('DELETE', `/import/cancel?session_uuid=${uuid}`);
  const hosts = async () => (await send<ProxyHost[]>('GET', '/proxy-hosts?sort=domain')).body;
  return {
    status,
    cancel,
    hosts,

    async upload(content: string, filename?: string): Promise<ImportSession> {
      const answer = await send<{ session: ImportSession }>('POST', '/import/upload', { content, filename });
      expect(answer.status).toBe(201);
      return answer.body.session;
    },

    async preview(): Promise<ImportPreview> {
      const answer = await send<ImportPreview>('GET', '/import/preview');
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body;
    },

    commit: (session_uuid: string, resolutions?: object) =>
      send<ImportOutcome & ErrorBody>('POST', '/import/commit', { session_uuid, resolutions }),

    report: (uuid: string) => send<ImportSessionReport>('GET', `/import/sessions/${uuid}`),

    /** A proxy host that is there before. */
    async host(fields: object): Promise<ProxyHost> {
      const origin = { forward_host: '127.0.0.1', forward_port: 9 };
      const answer = await send<ProxyHost>('POST', '/proxy-hosts', { ...origin, ...fields });
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return answer.body;
    },

    routes: async () => (await hosts()).map(({ domain, forward_port }) => `${domain} ${forward_port}`),

    /** Leaves no session under way, and no hosts. */
    async clear(): Promise<void> {
      const { session } = (await status()).body;
      if (session) await cancel(session.uuid);
      const uuids = (await hosts()).map(({ uuid }) => uuid);
      if (uuids.length > 0) await send('POST', '/proxy-hosts/bulk-delete', { uuids });
    },
  };
};
export type GivenImports = ReturnType<typeof createGivenImports>;
