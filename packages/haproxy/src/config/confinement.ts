import { basename, dirname } from 'node:path';
import { quote } from './quote.ts';
import type { ConfigSettings } from './settings.ts';

/** What the worker gives up once it has bound its ports and read its files; the master keeps its rights for reloads. */
export const confinement = ({ confinement: confined }: ConfigSettings): string =>
  confined === null
    ? ''
    : `\
  # Started by root, the process that faces clients keeps neither its rights nor the file system: it connects to the
  # sockets in this directory, where it is started in as well, and to nothing else.
  user ${confined.user}
  group ${confined.group}
  chroot ${quote(confined.directory)}
`;

/**
 * Address of a unix socket that the worker connects to. A confined one sees nothing but its own directory, so there a
 * path has to mean the same before and after it is confined: relative.
 */
export const socketAddress = ({ confinement: confined }: ConfigSettings, path: string): string =>
  quote(`unix@${confined !== null && dirname(path) === confined.directory ? basename(path) : path}`);
