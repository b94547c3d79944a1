export { readCaddyfile } from './caddyfile/read.ts';
export { readFiles } from './read-files.ts';
export type { ImportedHost, ImportWarning, Place, Reading, SourceError, SourceFile } from './reading.ts';
