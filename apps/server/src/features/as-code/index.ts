import type { App } from '../../http/app-type.ts';
import type { Ground } from '../ground.ts';
import { asCodeRoutes } from './routes.ts';
import { type AsCodeDeps, createAsCode } from './service.ts';
import { createYaml } from './yaml.ts';

/** Wires the configuration as one document. */
export const createConfigAsCode = (
  { database, record }: Ground,
  deps: Pick<AsCodeDeps, 'declared' | 'certificates' | 'keepingWayIn' | 'backUp'>,
) => {
  const { transact, transactAside } = database;
  const asCode = createAsCode({ ...deps, transact, transactAside, record });
  return {
    async routes(app: App): Promise<void> {
      // By itself: its parser of YAML is for nothing else.
      await app.register(asCodeRoutes(asCode, createYaml()));
    },
  };
};
export type ConfigAsCode = ReturnType<typeof createConfigAsCode>;
