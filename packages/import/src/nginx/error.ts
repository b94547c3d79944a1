import type { Place, SourceError } from '../reading.ts';
import { shorten } from '../shorten.ts';

const MAX_SHOWN = 200;

/** What is wrong with a configuration of nginx, and where. */
export class NginxError extends Error {
  readonly found: SourceError;

  constructor(message: string, { file, line, column }: Place, text?: string) {
    super(message);
    this.name = 'NginxError';
    this.found = {
      file,
      line,
      ...(column !== undefined && { column }),
      message,
      ...(text !== undefined && { text: shorten(text, MAX_SHOWN) }),
    };
  }
}
