import { type Reading, readFiles } from '@sallyport/import';
import { made, NGINX_PROXY_MANAGER } from './make.ts';

/** An uploaded file of bytes. */
export const file = (bytes: Buffer, name = 'database.sqlite') => ({
  name,
  content: bytes.toString('base64'),
  encoding: 'base64' as const,
});

/** What a database by itself is read as. */
export const read = (bytes: Buffer): Reading => readFiles([file(bytes)]);

/** What a database of Nginx Proxy Manager is read as, after these statements. */
export const readNpm = (...statements: readonly string[]): Reading => read(made(...NGINX_PROXY_MANAGER, ...statements));

/** The fields of a host of Nginx Proxy Manager that has a certificate. */
export const app = { domain_names: '["app.test"]', forward_host: '10.0.0.1', forward_port: 8080, certificate_id: 3 };

/** All warnings of a host, one a line. */
export const messages = (host: { warnings: { message: string }[] } | undefined): string =>
  (host?.warnings ?? []).map(({ message }) => message).join('\n');
