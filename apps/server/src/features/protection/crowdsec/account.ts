import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's package makes it; others may pass through it. */
const PACKAGE_DIRECTORY = '/var/lib/crowdsec';

/** The directory that a process was started in: what it is in already it need not pass through others to. */
const STARTED_IN = '/proc/self/cwd';

/** Ids that neither people nor packages are given; systemd takes those of its transient services from the same. */
const FIRST_ID = 61_184;
const IDS = 4_336;

/** Who runs CrowdSec, and where it finds its files. */
export interface CrowdsecAccount {
  /** User and group; undefined when it keeps our own, which is not root's. */
  id: number | undefined;
  /** The instance's directory as the process sees it. */
  view: string;
  /** The directory of what it writes, as we see it and as the process does. */
  state: { at: string; view: string };
  /** Where its processes are to be started. */
  cwd: string;
  /** Puts a command line into this account. */
  wrap: (program: string, args: readonly string[]) => [string, string[]];
}

/** Secrets are nobody else's, and a process whose parent is killed ends. */
const CONFINED = ['setpriv', '--no-new-privs', '--pdeathsig=TERM'];
const ALONE = 'umask 077; exec "$@"';

const CAP_SYS_ADMIN = 1n << 21n;

/** Whether we may mount; a container's root seldom may. */
const mayMount = (): boolean => {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return effective !== undefined && (BigInt(`0x${effective}`) & CAP_SYS_ADMIN) !== 0n;
};

/**
 * CrowdSec never runs as root. When we are root it gets an id of its own, made from the data directory's path. Nobody else may
 * enter that directory, so it is shown its part of it in a mount namespace of its own, in place of the package's directory. Where
 * root may not mount, it is started inside its part; only what SQLite writes has to be elsewhere, since that looks up its own path.
 */
export const crowdsecAccount = (
  directory: string,
  uid = process.getuid?.(),
  canMount: () => boolean = mayMount,
): CrowdsecAccount => {
  const run = (...line: readonly string[]): [string, string[]] => {
    const [first = '', ...rest] = line;
    return [first, rest];
  };
  const ownState = { at: join(directory, 'state'), view: join(directory, 'state') };
  if (uid !== 0) {
    return {
      id: undefined,
      view: directory,
      state: ownState,
      cwd: '/',
      wrap: (program, args) => run('sh', '-c', ALONE, 'sh', ...CONFINED, '--', program, ...args),
    };
  }
  const id = FIRST_ID + (createHash('sha256').update(directory).digest().readUInt32BE(0) % IDS);
  const rights = [`--reuid=${id}`, `--regid=${id}`, '--clear-groups', '--inh-caps=-all', '--bounding-set=-all'];
  if (!canMount()) {
    const state = join(PACKAGE_DIRECTORY, `sallyport-${id}`);
    return {
      id,
      view: STARTED_IN,
      state: { at: state, view: state },
      cwd: directory,
      wrap: (program, args) => run('sh', '-c', ALONE, 'sh', ...CONFINED, ...rights, '--', program, ...args),
    };
  }
  const script = 'umask 077; mount --bind "$1" "$2" && cd / && shift 2 && exec "$@"';
  const shown = [
    'unshare',
    '--mount',
    '--propagation=private',
    '--',
    'sh',
    '-c',
    script,
    'sh',
    directory,
    PACKAGE_DIRECTORY,
  ];
  return {
    id,
    view: PACKAGE_DIRECTORY,
    state: { at: ownState.at, view: join(PACKAGE_DIRECTORY, 'state') },
    cwd: '/',
    wrap: (program, args) => run(...shown, ...CONFINED, ...rights, '--', program, ...args),
  };
};
