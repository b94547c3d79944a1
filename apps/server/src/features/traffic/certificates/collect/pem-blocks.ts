/** One block of a PEM text (RFC 7468). */
export interface PemBlock {
  /** E.g. `CERTIFICATE`. */
  label: string;
  /** With its first and last line. */
  text: string;
}

const BEGIN = /^-----BEGIN ([A-Z0-9 ]+)-----$/;

/** The blocks of a text, whatever stands between them. Linear, also for a text of nothing but beginnings. */
export const pemBlocks = (text: string): PemBlock[] => {
  const blocks: PemBlock[] = [];
  let open: { label: string; lines: string[] } | undefined;
  for (const written of text.split('\n')) {
    const line = written.trim();
    const label = BEGIN.exec(line)?.[1];
    if (label !== undefined) open = { label, lines: [line] };
    else open?.lines.push(line);
    if (open && line === `-----END ${open.label}-----`) {
      blocks.push({ label: open.label, text: `${open.lines.join('\n')}\n` });
      open = undefined;
    }
  }
  return blocks;
};
