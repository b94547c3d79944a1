import { parentPort, workerData } from 'node:worker_threads';
import { readYaml, YamlError } from '@sallyport/import/yaml';
import { stringify } from 'yaml';
import type { YamlJob, YamlOutcome } from './yaml-job.ts';

const HEADER =
  '# Configuration of Sallyport. It holds no secrets, and no certificates; what is left out has its default.\n';

const MAX_CHARACTERS = 20 * 1024 * 1024;

const read = (text: string): YamlOutcome => {
  try {
    const json = JSON.stringify(readYaml(text).value ?? {});
    return json.length > MAX_CHARACTERS ? { problem: 'its aliases stand for too much' } : { text: json };
  } catch (error) {
    if (error instanceof RangeError) return { problem: 'its aliases stand for too much' };
    if (!(error instanceof YamlError)) throw error;
    const { line, column, message, text } = error;
    if (line === undefined) return { problem: message };
    return { problem: `line ${line}, column ${column}: ${message}`, ...(text && { text }) };
  }
};

const run = (job: YamlJob): YamlOutcome =>
  'read' in job
    ? read(job.read)
    : { text: HEADER + stringify(job.write, { lineWidth: 0, aliasDuplicateObjects: false }) };

parentPort?.postMessage(run(workerData as YamlJob));
