import type { IncomingMessage } from 'node:http';
import { BrokenAnswer } from './no-answer.ts';

/** The first part of an origin's answer, held back to be inspected. */
export interface AnswerStart {
  body: Buffer;
  /** Nothing follows. */
  isWhole: boolean;
}

/** As much as the baseline's SecResponseBodyLimit inspects. */
const INSPECTED_BYTES = 1_048_576;
/** A page that trickles in is not held back longer; what has come by then is inspected. */
const HELD_MS = 3_000;

/** The baseline's SecResponseBodyMimeType: other answers (pictures, downloads, event streams) are passed on unread. */
const INSPECTED_TYPES = new Set(['text/plain', 'text/html', 'text/xml', 'application/json']);

const isInspected = ({ headers }: IncomingMessage): boolean => {
  const type = (headers['content-type'] ?? '').split(';', 1)[0] ?? '';
  const encoding = headers['content-encoding'] ?? 'identity';
  return INSPECTED_TYPES.has(type.trim().toLowerCase()) && encoding.toLowerCase() === 'identity';
};

/**
 * Reads the part of an answer that rules look at and leaves the rest in the stream, paused. Resolves to undefined for an
 * answer whose body is not inspected; rejects when the origin breaks off.
 */
export const readAnswerStart = (answer: IncomingMessage): Promise<AnswerStart | undefined> => {
  if (!isInspected(answer)) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (isWhole: boolean): void => {
      release();
      answer.pause();
      resolve({ body: Buffer.concat(chunks), isWhole });
    };
    const onData = (chunk: Buffer): void => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= INSPECTED_BYTES) finish(false);
    };
    const onEnd = (): void => finish(true);
    const onClose = (): void => {
      release();
      reject(new BrokenAnswer('the origin broke off its answer'));
    };
    const timer = setTimeout(() => finish(false), HELD_MS);
    const release = (): void => {
      clearTimeout(timer);
      answer.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
    };
    answer.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onClose);
  });
};
