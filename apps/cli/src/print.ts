/** A text from elsewhere as a terminal may have it: it obeys the control characters in names and messages. */
export const visible = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');

/** Writes one line of result to standard output. */
export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Writes rows in columns as wide as their widest cell; control characters in cells are shown and have no effect. */
export const printTable = (header: readonly string[], rows: readonly (readonly string[])[]): void => {
  const lines = [header, ...rows].map((row) => row.map(visible));
  // A preview may have hundreds of thousands of lines: more than a function may have arguments.
  const widths = header.map((_, column) =>
    lines.reduce((most, line) => Math.max(most, (line[column] ?? '').length), 0),
  );
  for (const line of lines) {
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
};
