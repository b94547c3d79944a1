import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { trafficFile } from '@sallyport/deployment/places';
import { writeFileAtomically } from '@sallyport/haproxy';

/** Whether haproxy.cfg was or will be written so that HAProxy tells of every request. */
export const tellsTraffic = (dataDir: string): boolean => existsSync(trafficFile(dataDir));

/** Keeps it for the next time that haproxy.cfg is written. */
export const keepTellingTraffic = (dataDir: string, isWanted: boolean): Promise<void> =>
  isWanted
    ? writeFileAtomically(trafficFile(dataDir), [''], { durable: true })
    : rm(trafficFile(dataDir), { force: true });
