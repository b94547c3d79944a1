export { readCaddyfile } from './caddyfile/read.ts';
export type { ImportedHost, ImportWarning, Place, Reading, SourceError, SourceFile } from './reading.ts';
