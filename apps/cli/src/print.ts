/** Writes one line of result to standard output. */
export const print = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Writes rows in columns as wide as their widest cell. */
export const printTable = (header: readonly string[], rows: readonly (readonly string[])[]): void => {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  for (const row of [header, ...rows]) {
    print(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  }
};
