// node-alone.mjs ROOT DIRECTORY: writes package.json and package-lock.json of a package that needs the pinned Node and nothing
// else, as the lockfile of ROOT has it, checksum included. Runs on whatever Node the machine has.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [root, directory] = process.argv.slice(2);
const name = 'node-alone';
const { lockfileVersion, packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const builds = Object.entries(packages).filter(([path]) => /^node_modules\/node-linux-[a-z0-9]+$/.test(path));
const optionalDependencies = Object.fromEntries(
  builds.map(([path, { version }]) => [path.slice('node_modules/'.length), version]),
);
const save = (file, content) => writeFileSync(join(directory, file), `${JSON.stringify(content)}\n`);

mkdirSync(directory, { recursive: true });
save('package.json', { name, private: true, optionalDependencies });
save('package-lock.json', {
  name,
  lockfileVersion,
  requires: true,
  packages: { '': { name, optionalDependencies }, ...Object.fromEntries(builds) },
});
