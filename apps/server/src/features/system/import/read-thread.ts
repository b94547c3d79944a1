import { parentPort, workerData } from 'node:worker_threads';
import { type Reading, readFiles } from '@sallyport/import';
import type { ReadJob, ReadOutcome } from './read-job.ts';

/** More would take longer to commit than anybody waits for an answer. */
const MOST_HOSTS = 50_000;

const bounded = (reading: Reading): Reading => {
  const beyond = reading.hosts[MOST_HOSTS];
  if (!beyond) return reading;
  const { file, line, column = 1, domain } = beyond;
  const message = `there are more than ${MOST_HOSTS} sites, which can not be imported at once: split the file`;
  return { ...reading, hosts: [], errors: [{ file, line, column, message, text: domain.slice(0, 200) }] };
};

const run = ({ files }: ReadJob): ReadOutcome => {
  const read = bounded(readFiles(files));
  // A failed session is kept to say why: no keys with that.
  const reading = read.hosts.length === 0 ? { ...read, certificates: [] } : read;
  const { source, hosts, errors, staticFiles } = reading;
  return { text: JSON.stringify(reading), source, hosts: hosts.length, errors: errors.length, staticFiles };
};

parentPort?.postMessage(run(workerData as ReadJob));
