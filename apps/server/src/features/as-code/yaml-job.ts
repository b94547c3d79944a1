import type { ConfigDocument } from '@sallyport/contract';

/** A text to read, or a document to write. */
export type YamlJob = { read: string } | { write: ConfigDocument };

/** The JSON of what was read, the text that was written, or why there is none, with what stands in the line that is wrong. */
export type YamlOutcome = { text: string } | { problem: string; text?: string };
