import { circlesOf } from './circles.ts';
import { type Import, readImports, type Sources } from './read-imports.ts';

/**
 * Which packages each workspace may stand on. A workspace that is not named here may stand on none; that no app is in a
 * list is the first rule of the house.
 */
export const FLOORS: Readonly<Record<string, readonly string[]>> = {
  'packages/contract': [],
  'packages/waf': [],
  'packages/spop': [],
  'packages/haproxy': [],
  'packages/caddyfile': [],
  'packages/acme': [],
  'packages/access': ['contract'],
  'packages/deployment': [],
  'packages/store': ['contract', 'deployment'],
  'packages/enforcement': ['access', 'deployment', 'haproxy'],
  'packages/import': ['caddyfile', 'contract', 'store'],
  'packages/backup': ['access', 'contract', 'deployment', 'store'],
  'packages/recovery': ['access', 'contract', 'deployment', 'enforcement', 'haproxy', 'store'],
  'apps/supervisor': ['deployment', 'haproxy', 'waf'],
  'apps/guard': ['access', 'contract', 'deployment', 'spop', 'waf'],
  'apps/cli': ['backup', 'contract', 'deployment', 'import', 'recovery', 'store', 'waf'],
  'apps/emergency': ['access', 'deployment', 'recovery', 'store'],
  'apps/web': ['contract'],
  'apps/server': [
    'access',
    'acme',
    'backup',
    'contract',
    'deployment',
    'enforcement',
    'haproxy',
    'import',
    'recovery',
    'store',
    'waf',
  ],
};

/** Which rooms of the server each of its rooms may enter. Its root, `render` and `check` wire them and may enter all. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  net: [],
  dataplane: ['net'],
  http: ['net'],
  features: ['dataplane', 'http', 'net'],
};

const SERVER = 'apps/server/src/';
const workspaceOf = (path: string): string => path.split('/', 2).join('/');
const packageOf = (specifier: string): string | undefined => /^@sallyport\/([^/]+)/.exec(specifier)?.[1];
const isOurs = ({ to }: Import, sources: Sources): boolean => sources.has(to);
const show = ({ from, to }: Import): string => `${from} imports ${to}`;

/** No app imports another, no package an app, and each stands on the packages that `FLOORS` gives it. */
export const wrongFloors = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ from, to }) => {
      const other = sources.has(to) ? workspaceOf(to) : packageOf(to) && `packages/${packageOf(to)}`;
      if (other === undefined || other === workspaceOf(from)) return false;
      const allowed = FLOORS[workspaceOf(from)] ?? [];
      return !allowed.some((name) => other === `packages/${name}`);
    })
    .map(show);

/** Imports by a path that leaves the own workspace, or the own folder of `test/`. */
const byPathOutside = (sources: Sources): Import[] =>
  readImports(sources).filter(
    ({ from, to, specifier }) => specifier.startsWith('.') && workspaceOf(to) !== workspaceOf(from),
  );

/** A workspace is entered by its name, never by a path that leaves the own one. */
export const sideEntrances = (sources: Sources): string[] => byPathOutside(sources).map(show);

/** Tests reach into no other workspace, nor into another folder of `test/`: what they share stands in `test/support`. */
export const borrowedSupport = (everything: Sources): string[] =>
  byPathOutside(everything)
    .filter(({ to }) => workspaceOf(to) !== 'test/support')
    .map(show);

/** Top folders (and loose files) of one workspace that import each other in a circle. */
export const circlesOfFolders = (sources: Sources): string[] => {
  const arrows = readImports(sources).filter(
    (one) => isOurs(one, sources) && workspaceOf(one.from) === workspaceOf(one.to),
  );
  const topOf = (path: string) => path.split('/', 4).join('/');
  return circlesOf(arrows.map(({ from, to }) => [topOf(from), topOf(to)] as const)).map((circle) => circle.join(' '));
};

/** Files that import each other in a circle, types included: a shared type goes down a floor. */
export const circlesOfFiles = (sources: Sources): string[] => {
  const arrows = readImports(sources).filter((one) => isOurs(one, sources));
  return circlesOf(arrows.map(({ from, to }) => [from, to] as const)).map((circle) => circle.join(' '));
};

/** Floors of a workspace from the ground up; a floor may have several folders side by side, with spaces between. */
export const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  'packages/waf/src': [
    'bytes',
    'regex seclang transformations',
    'operators/sql operators/html',
    'operators body',
    'model',
    'variables',
    'compile',
    'actions',
    'engine/read',
    'engine/run',
    'engine/scan',
    'engine',
    'presets tools',
  ],
  'packages/haproxy/src': ['model', 'routes', 'config', 'reconcile runtime', 'files', 'driver'],
  'packages/acme/src': ['model', 'names', 'read', 'certificate wire', 'client'],
};

/** In a workspace with floors, imports that do not lead down: into a folder whose floor is not below the own one. */
export const upwards = (sources: Sources): string[] =>
  Object.entries(FOLDERS).flatMap(([workspace, floors]) => {
    const rooms = floors.flatMap((names, floor) => names.split(' ').map((name) => ({ name, floor })));
    // The longest that a file lies in: `engine/run` before `engine`, which is what lies in that folder itself.
    rooms.sort((a, b) => b.name.length - a.name.length);
    const roomOf = (path: string) =>
      rooms.find(({ name }) => path.startsWith(`${workspace}/${name}/`)) ?? { name: path, floor: floors.length };
    return readImports(sources)
      .filter(({ from, to }) => [from, to].every((path) => path.startsWith(`${workspace}/`)))
      .filter(({ from, to }) => {
        const [room, other] = [roomOf(from), roomOf(to)];
        return other.name !== room.name && other.floor >= room.floor;
      })
      .map(show);
  });

/** Rooms of the server that enter one above them, or the root. */
export const upstairs = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ from, to }) => from.startsWith(SERVER) && to.startsWith(SERVER))
    .filter(({ from, to }) => {
      const [room = '', other = ''] = [from, to].map((path) => path.slice(SERVER.length).split('/')[0]);
      const allowed = ROOMS[room];
      return allowed !== undefined && room !== other && !allowed.includes(other);
    })
    .map(show);

/** A neighbourhood of features is entered by its `index.ts`; what HAProxy starts from, also by its `stored.ts`. */
export const closedDoors = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ from, to }) => {
      const [, neighbourhood, inner = ''] = /^(apps\/server\/src\/features\/[^/]+\/)(.+)$/.exec(to) ?? [];
      if (neighbourhood === undefined || from.startsWith(neighbourhood)) return false;
      return !['index.ts', 'stored.ts'].includes(inner);
    })
    .map(show);

/** Only routes, neighbourhoods' doors and the root know HTTP. */
const knowsHttp = (path: string): boolean => /\/(?:routes|index|upload-form)\.ts$/.test(path);

/** Features that reach into `http/` without being routes. */
export const httpInside = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ from, to }) => from.startsWith(`${SERVER}features/`) && to.startsWith(`${SERVER}http/`))
    .filter(({ from }) => !knowsHttp(from))
    .map(show);

const isModule = (to: string, names: readonly string[]): boolean =>
  names.some((name) => to === name || to.startsWith(`${name}/`));

/** Only `store.ts` files and `packages/store` know kysely. */
export const strayKysely = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ to }) => isModule(to, ['kysely', 'better-sqlite3', 'pg']))
    .filter(({ from }) => !from.startsWith('packages/store/src/') && !from.endsWith('/store.ts'))
    .map(show);

/** Only `routes.ts`, `app.ts` and `http/` know fastify. */
export const strayFastify = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ to }) => isModule(to, ['fastify', '@fastify']))
    .filter(({ from }) => !/\/(?:routes|app|upload-form)\.ts$/.test(from) && !from.startsWith(`${SERVER}http/`))
    .map(show);

const DIALS = ['*', 'connect', 'createConnection', 'Socket'];
/** What these modules have besides clients. */
const OFFLINE = ['createServer', 'METHODS', 'STATUS_CODES'];
const CLIENTS = ['undici', 'nodemailer', 'node:http', 'node:https', 'node:http2', 'node:tls', 'node:dgram', 'node:dns'];

/** Only `net/` opens connections out of the server; listening is no such thing. */
export const strayConnections = (sources: Sources): string[] =>
  readImports(sources)
    .filter(({ from }) => /^(?:apps\/server|packages\/(?:acme|store|deployment|access|contract))\//.test(from))
    .filter(({ from }) => !from.startsWith(`${SERVER}net/`))
    .filter(({ from, to, values }) => {
      // The data plane is HAProxy and the guards, which it meets at unix sockets.
      if (to === 'node:net') return values.some((name) => DIALS.includes(name)) && !from.includes('/dataplane/');
      return isModule(to, CLIENTS) && values.some((name) => !OFFLINE.includes(name));
    })
    .map(show);
