export { readCaddyfile } from './caddyfile/read.ts';
export { readHaproxy } from './haproxy/read.ts';
export { readNginx } from './nginx/read.ts';
export { readFiles } from './read-files.ts';
export type {
  ImportedAccessList,
  ImportedCertificate,
  ImportedHost,
  ImportWarning,
  Place,
  Reading,
  SourceError,
  SourceFile,
} from './reading.ts';
export { readTraefik } from './traefik/read.ts';
