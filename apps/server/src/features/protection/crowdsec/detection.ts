import { copyFileSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HubScenario } from './presets/hub.ts';
import { PATTERNS } from './program.ts';

/** Of the offline hub, what reads a web server's log. Not its `whitelists`: who is spared is ours to say. */
const PARSERS = [
  's00-raw/crowdsecurity/syslog-logs.yaml',
  's01-parse/crowdsecurity/nginx-logs.yaml',
  's02-enrich/crowdsecurity/dateparse-enrich.yaml',
  's02-enrich/crowdsecurity/http-logs.yaml',
];

/** Copies what reads lines into the instance in `directory`. */
export const copyParsers = (directory: string, hub: string): void => {
  for (const parser of PARSERS) {
    const [stage = '', , name = ''] = parser.split('/');
    mkdirSync(join(directory, 'etc/parsers', stage), { recursive: true });
    copyFileSync(join(hub, 'parsers', parser), join(directory, 'etc/parsers', stage, name));
  }
  mkdirSync(join(directory, 'etc/patterns'));
  for (const name of readdirSync(PATTERNS)) copyFileSync(join(PATTERNS, name), join(directory, 'etc/patterns', name));
};

/** Copies these scenarios into the instance in `directory`, in place of those that are there. */
export const copyScenarios = (directory: string, scenarios: readonly HubScenario[]): void => {
  rmSync(join(directory, 'etc/scenarios'), { recursive: true, force: true });
  mkdirSync(join(directory, 'etc/scenarios'));
  for (const { file, path, lists } of scenarios) {
    copyFileSync(path, join(directory, 'etc/scenarios', file));
    for (const [list, from] of lists) copyFileSync(from, join(directory, 'lists', list));
  }
};
