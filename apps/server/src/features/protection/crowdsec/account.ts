import { createHash } from 'node:crypto';

/** Where the private instance is shown to a process that may not enter the data directory; Debian's package makes it. */
const VIEW = '/var/lib/crowdsec';

/** Ids that neither people nor packages are given; systemd takes those of its transient services from the same. */
const FIRST_ID = 61_184;
const IDS = 4_336;

/** Who runs CrowdSec, and where it finds its files. */
export interface CrowdsecAccount {
  /** User and group; undefined when it keeps our own, which is not root's. */
  id: number | undefined;
  /** The instance's directory as the process sees it. */
  view: string;
  /** Puts a command line into this account. */
  wrap: (program: string, args: readonly string[]) => [string, string[]];
}

/** Secrets are nobody else's, and a process whose parent is killed ends. */
const CONFINED = ['setpriv', '--no-new-privs', '--pdeathsig=TERM'];

/**
 * CrowdSec never runs as root. When we are root it gets an id of its own, made from the data directory's path. Nobody else may
 * enter that directory, so it is shown its part of it in a mount namespace of its own, in place of the package's directory.
 */
export const crowdsecAccount = (directory: string, uid = process.getuid?.()): CrowdsecAccount => {
  if (uid !== 0) {
    const script = 'umask 077; exec "$@"';
    return {
      id: undefined,
      view: directory,
      wrap: (program, args) => ['sh', ['-c', script, 'sh', ...CONFINED, '--', program, ...args]],
    };
  }
  const id = FIRST_ID + (createHash('sha256').update(directory).digest().readUInt32BE(0) % IDS);
  const script = 'umask 077; mount --bind "$1" "$2" && cd / && shift 2 && exec "$@"';
  const rights = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
  const shown = ['unshare', '--mount', '--propagation=private', '--', 'sh', '-c', script, 'sh', directory, VIEW];
  return {
    id,
    view: VIEW,
    wrap(program, args) {
      const [first = '', ...rest] = [...shown, ...CONFINED, ...rights, '--', program, ...args];
      return [first, rest];
    },
  };
};
