/** Where something was said: 1-based; columns count UTF-16 units. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

const MAX_SHOWN = 200;

/** What is wrong with a Caddyfile, and where. The only error this package throws; `parse` collects them. */
export class CaddyfileError extends Error implements Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** The offending piece, at most 200 characters. */
  readonly text: string | undefined;

  constructor(message: string, { file, line, column }: Place, text?: string) {
    super(message);
    this.name = 'CaddyfileError';
    this.file = file;
    this.line = line;
    this.column = column;
    this.text = text === undefined ? undefined : shorten(text, MAX_SHOWN);
  }
}

/** The text, or as much of it as may be shown. */
export const shorten = (text: string, most = 80): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** As it is put into messages: quoted, short, without control characters. */
export const show = (text: string): string => JSON.stringify(shorten(text));
