import { chmodSync, chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The account, and its group, that Debian's package makes for HAProxy. */
const NAME = 'haproxy';

/** Bits of capabilities(7) that confining takes: CAP_CHOWN, CAP_SETGID, CAP_SETUID, CAP_SYS_CHROOT. */
const NEEDED = (1n << 0n) | (1n << 6n) | (1n << 7n) | (1n << 18n);

const isRoot = (): boolean => process.getuid?.() === 0;

/** Id of HAProxy's group, group(5); undefined when its package is not there. */
const groupId = (): number | undefined => {
  const line = readFileSync('/etc/group', 'utf8')
    .split('\n')
    .find((group) => group.startsWith(`${NAME}:`));
  const id = Number(line?.split(':')[2]);
  return Number.isInteger(id) && id > 0 ? id : undefined;
};

/** A container may leave root without the rights to give rights away. */
const mayConfine = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return effective !== undefined && (BigInt(`0x${effective}`) & NEEDED) === NEEDED;
};

/** Where HAProxy meets guards and server. */
export const runDirectory = (dataDir: string): string => join(dataDir, 'run');

const isOpenToGroup = (path: string): boolean => {
  const directory = statSync(path, { throwIfNoEntry: false });
  return directory !== undefined && (directory.mode & 0o010) !== 0;
};

const whyNotOpened = (path: string): string | undefined => {
  const gid = groupId();
  if (gid === undefined) return `there is no group ${NAME}`;
  if (!mayConfine()) return 'root has not got all its rights here';
  try {
    chownSync(path, 0, gid);
  } catch (error) {
    // A user namespace without this group.
    return `its group can't be given a directory (${(error as NodeJS.ErrnoException).code})`;
  }
  // What is made in it gets its group (set-group-ID). Never closed in between: an adopted HAProxy goes on using it.
  chmodSync(path, 0o2710);
  return undefined;
};

/**
 * Makes the directory where HAProxy, guards and server meet. When we are root, HAProxy's group may pass through it, and
 * HAProxy will be confined to it; returns why not, if it can't be.
 */
export const prepareRunDirectory = (dataDir: string): string | undefined => {
  const path = runDirectory(dataDir);
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const reason = isRoot() ? whyNotOpened(path) : undefined;
  if (!isRoot() || reason !== undefined) chmodSync(path, 0o700);
  return reason;
};

/** How HAProxy is confined (decision 0006); null when it keeps the rights of our own user. */
export const proxyConfinement = (dataDir: string) => {
  const directory = runDirectory(dataDir);
  return isRoot() && isOpenToGroup(directory) ? { user: NAME, group: NAME, directory } : null;
};

/**
 * Mode of a unix socket in the run directory that HAProxy connects to: a confined one does so by its group, which what is
 * made in there has from the beginning.
 */
export const proxySocketMode = (path: string): 0o600 | 0o660 =>
  isRoot() && isOpenToGroup(dirname(path)) ? 0o660 : 0o600;
