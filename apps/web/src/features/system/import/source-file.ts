/** A file as it is uploaded. What is no text, such as a database, goes as base64. */
export interface SourceFile {
  filename: string;
  content: string;
  encoding: 'utf8' | 'base64';
}

/** A request may have 10 MiB, with its quotes and escapes. */
export const MOST_MIB = 10;
const MOST_BYTES = MOST_MIB * 1024 * 1024 - 4_096;
const PIECE = 0x8000;

const toBase64 = (bytes: Uint8Array): string => {
  let binary = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    binary += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  }
  return btoa(binary);
};

/** Reads a file that was chosen; its folder belongs to its name, as others include it by that. */
export const readSource = async (file: File): Promise<SourceFile> => {
  const filename = (file.webkitRelativePath || file.name).slice(-255);
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    const content = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (!content.includes('\0')) return { filename, content, encoding: 'utf8' };
  } catch {
    // No text.
  }
  return { filename, content: toBase64(bytes), encoding: 'base64' };
};

/** Whether files could fit in a request; what can't isn't worth reading: it may be larger than the memory. */
export const mayFit = (files: readonly Pick<File, 'size'>[]): boolean =>
  files.reduce((sum, { size }) => sum + size, 0) <= MOST_BYTES;

/** Whether the service takes a request with these files. */
export const fitsInRequest = (files: readonly SourceFile[]): boolean =>
  new Blob([JSON.stringify(files)]).size <= MOST_BYTES;
