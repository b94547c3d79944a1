import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../../test/support/free-ports.ts';
import { crowdsecAccount } from '../features/protection/crowdsec/account.ts';
import type { Instance } from '../features/protection/crowdsec/instance.ts';

// What is in its place is found in the directory that the program lies in: a test writes it there.
const DAEMON = `#!/bin/sh
here=$(dirname "$0")
case "$1" in -version) echo 'version: v1.4.6-debian' >&2; exit;; esac
etc=\${2%/config.yaml}
if [ -e "$here/last-words" ]; then cat "$here/last-words" >&2; exit 1; fi
broken=$(grep -l broken "$etc"/scenarios/* 2>/dev/null | head -n 1)
if [ -n "$broken" ]; then
  echo "time=\\"now\\" level=fatal msg=\\"crowdsec init: while loading scenarios: scenario loading failed: it is broken in $broken : no such filter\\"" >&2
  exit 1
fi
[ "$3" = -t ] && exit 0
say() { echo 'level=info msg="Starting processing data"' >&2; }
trap say HUP
trap 'exit 0' TERM
say
while :; do sleep 0.2 >/dev/null 2>&1 & wait $!; done
`;

const CLI = `#!/bin/sh
here=$(dirname "$0")
echo "$@" >> "$here/asked"
if [ -e "$here/refuses" ]; then cat "$here/refuses" >&2; exit 1; fi
if [ "$3 $4 $5 $6 $7" = 'machines add sallyport --auto -f' ]; then
  cp "$here/empty.db" "$(dirname "$8")/crowdsec.db"
  printf 'url: http://127.0.0.1:1/\\nlogin: sallyport\\npassword: "se cret"\\n' > "$8"
elif [ "$3 $4 $5 $6 $7" = 'bouncers add sallyport -o raw' ]; then
  cat "$here/bouncer-key"
else
  echo 'unknown command' >&2
  exit 1
fi
`;

const PARSERS = [
  's00-raw/crowdsecurity/syslog-logs.yaml',
  's01-parse/crowdsecurity/nginx-logs.yaml',
  's02-enrich/crowdsecurity/dateparse-enrich.yaml',
  's02-enrich/crowdsecurity/http-logs.yaml',
];

export const BOUNCER_KEY = '0123456789abcdef0123456789abcdef';

/**
 * Programs of the shell that are called, speak and end as CrowdSec's do, with a hub of their own, for what starts, tries and ends them. That
 * the real ones are understood is what the tests prove that start Debian's. It is all gone when the test has finished.
 */
export const scriptedCrowdsec = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'sallyport-scripted-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const program = { daemon: join(directory, 'crowdsec'), cli: join(directory, 'cscli'), hub: join(directory, 'hub') };
  const write = (name: string, text: string, mode = 0o644): void =>
    writeFileSync(join(directory, name), text, { mode });
  write('crowdsec', DAEMON, 0o755);
  write('cscli', CLI, 0o755);
  write('bouncer-key', `${BOUNCER_KEY}\n`);
  const empty = new DatabaseSync(join(directory, 'empty.db'));
  empty.exec("create table machines (name text); insert into machines values ('sallyport')");
  empty.close();
  for (const parser of PARSERS) {
    const at = join(program.hub, 'parsers', parser);
    mkdirSync(join(at, '..'), { recursive: true });
    writeFileSync(at, `name: ${parser}\n`);
  }
  mkdirSync(join(program.hub, 'scenarios/test'), { recursive: true });
  chmodSync(directory, 0o755);
  const home = join(directory, 'data');
  mkdirSync(home);
  // An account of our own, whoever runs the tests.
  const instance: Instance = {
    directory: home,
    account: crowdsecAccount(home, 1_000),
    port: await freePort(),
    program,
  };
  return {
    /** Where the programs are. */
    directory,
    program,
    instance,
    /** Writes a scenario `test/NAME` into the hub; one that is broken is refused by name. */
    scenario: (name: string, words = 'fine'): void =>
      write(
        `hub/scenarios/test/${name}.yaml`,
        `name: test/${name}\nfilter: "evt.Meta.service == 'http'"\ndescription: ${words}\n`,
      ),
    /** Writes one that judges nothing of what clients ask of a web server. */
    useless: (name: string): void => write(`hub/scenarios/test/${name}.yaml`, `name: test/${name}\n`),
    /** Has the hub name these scenarios together as `test/NAME`. */
    collection: (name: string, ...scenarios: string[]): void =>
      write('hub/.index.json', JSON.stringify({ collections: { [`test/${name}`]: { scenarios } } })),
    /** From now on the daemon says this and ends. */
    lastWords: (words: string): void => write('last-words', `${words}\n`),
    /** It runs again. */
    recovers: (): void => rmSync(join(directory, 'last-words'), { force: true }),
    /** From now on `cscli` says this and fails. */
    cliRefuses: (words: string): void => write('refuses', `${words}\n`),
    /** What `cscli` prints as the key of a bouncer. */
    givesKey: (key: string): void => write('bouncer-key', `${key}\n`),
  };
};
export type ScriptedCrowdsec = Awaited<ReturnType<typeof scriptedCrowdsec>>;
