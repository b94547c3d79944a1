import { findInstances, isSameDirectory } from '@sallyport/deployment/instances';
import { amiss, type Outcome, well } from './outcome.ts';

/** Whether `sallyport emergency reset`, in a shell that knows nothing of this deployment, finds the instance on `dataDir`. */
export const checkShell = (dataDir: string): Outcome => {
  const instances = findInstances();
  const named = `"sallyport --data-dir ${dataDir} emergency reset"`;
  if (!instances.some(({ config }) => isSameDirectory(config.dataDir, dataDir))) {
    return amiss(
      `"sallyport emergency reset" does not see by itself what runs on ${dataDir}: from a shell name it, as in ${named}, with DATABASE_URL where it is set`,
    );
  }
  return instances.length === 1
    ? well('"sallyport emergency reset" finds this instance')
    : well(`${instances.length} instances run here: ${named} finds this one`);
};
