import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

// The package alone would register with its makers.
const INSTALL =
  'install it with: bin/up --with=crowdsec (docs/guide/crowdsec.md tells how by hand, and without internet)';

/** What Debian's package brings beside its hub, and what every layout has to have. */
export const PATTERNS = '/etc/crowdsec/patterns';

/** Where the two programs and their offline hub are; tests name others. */
export interface CrowdsecProgram {
  daemon: string;
  cli: string;
  /** Directory. */
  hub: string;
}

export const DEBIAN: CrowdsecProgram = {
  daemon: '/usr/bin/crowdsec',
  cli: '/usr/bin/cscli',
  hub: '/usr/share/crowdsec/hub',
};

/** Says in words why CrowdSec can't be run here; undefined when it can. */
export const whyNotInstalled = ({ daemon, cli, hub }: CrowdsecProgram): string | undefined => {
  if (!existsSync(daemon) || !existsSync(cli)) return `CrowdSec is not installed; ${INSTALL}`;
  const missing = [hub, PATTERNS].find((path) => !existsSync(path));
  return missing === undefined ? undefined : `CrowdSec lacks ${missing}, which Debian's package brings; ${INSTALL}`;
};

/** The version, such as `1.4.6`; older ones tell it on stderr, newer ones on stdout. */
export const readVersion = async ({ daemon }: CrowdsecProgram): Promise<string | null> => {
  const { stdout, stderr } = await run(daemon, ['-version'], { timeout: 5_000 }).catch(() => ({
    stdout: '',
    stderr: '',
  }));
  return /version: v?(\d+\.\d+\.\d+)/.exec(`${stdout}\n${stderr}`)?.[1] ?? null;
};
