import { parentPort, workerData } from 'node:worker_threads';
import { LineCounter, parseDocument, stringify } from 'yaml';
import type { YamlJob, YamlOutcome } from './yaml-job.ts';

const HEADER =
  '# Configuration of Sallyport. It holds no secrets, and no certificates; what is left out has its default.\n';

/** Deeper than any document of ours. */
const MAX_DEPTH = 32;
/** An alias stands for all that it names: a short text may be a long document. */
const MAX_ALIASES = 100;
const MAX_CHARACTERS = 20 * 1024 * 1024;

const checkDepth = (value: unknown, depth = 0): void => {
  if (typeof value !== 'object' || value === null) return;
  if (depth === MAX_DEPTH) throw new Error('it is nested too deeply');
  for (const item of Object.values(value)) checkDepth(item, depth + 1);
};

const read = (text: string): YamlOutcome => {
  const lineCounter = new LineCounter();
  // Of tags only those of JSON's types are known; others are warned of.
  const document = parseDocument(text, { lineCounter, prettyErrors: false, schema: 'core', merge: false });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    const { line, col } = lineCounter.linePos(error.pos[0]);
    return { problem: `line ${line}, column ${col}: ${error.message.slice(0, 200)}` };
  }
  const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
  checkDepth(value);
  const json = JSON.stringify(value ?? {});
  return json.length > MAX_CHARACTERS ? { problem: 'its aliases stand for too much' } : { text: json };
};

const run = (job: YamlJob): YamlOutcome => {
  try {
    if ('read' in job) return read(job.read);
    return { text: HEADER + stringify(job.write, { lineWidth: 0, aliasDuplicateObjects: false }) };
  } catch (error) {
    // Whatever the library stumbles over: nesting without end, aliases without end.
    const isTooDeep = error instanceof RangeError;
    return { problem: isTooDeep ? 'it is nested too deeply' : (error as Error).message.slice(0, 200) };
  }
};

parentPort?.postMessage(run(workerData as YamlJob));
