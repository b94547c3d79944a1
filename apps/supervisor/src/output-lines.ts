import type { Readable } from 'node:stream';

/** HAProxy's lines are the longest: it cuts what clients chose, so that they stay whole (packages/haproxy, log-format.ts). */
const longestLine = 16_384;
const linesPerWindow = 50;
const windowMs = 10_000;

export interface OutputSink {
  line(text: string): void;
  /** Called once per window when lines had to be left out. */
  dropped(count: number): void;
}

/** Reads a child's output to its end, always (a full pipe would stop the child), passing on a bounded number of lines. */
export const forwardLines = (stream: Readable, sink: OutputSink, now: () => number = Date.now): void => {
  let rest = '';
  let isCut = false;
  let windowStart = Number.NEGATIVE_INFINITY;
  let passed = 0;
  let dropped = 0;
  const report = () => {
    if (dropped > 0) sink.dropped(dropped);
    dropped = 0;
  };
  const pass = (line: string) => {
    if (line === '') return;
    if (now() - windowStart >= windowMs) {
      report();
      windowStart = now();
      passed = 0;
    }
    passed += 1;
    if (passed > linesPerWindow) dropped += 1;
    else sink.line(line);
  };
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    const lines = [rest + first, ...others];
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!isCut) pass(line.slice(0, longestLine));
      isCut = false;
    }
    if (rest.length > longestLine) {
      if (!isCut) pass(rest.slice(0, longestLine));
      isCut = true;
      rest = '';
    }
  });
  stream.on('close', () => {
    if (!isCut) pass(rest.slice(0, longestLine));
    report();
  });
  stream.on('error', () => undefined);
};
