// How often our own rules are wrong: node packages/waf/bench/false-alarms.ts [requests]. Rules of CRS are shown for comparison where it is installed.
import { existsSync } from 'node:fs';
import { compileCrs3, crs3Rules } from '../../../test/support/waf/crs.ts';
import { baselineRules, compile, ownRules } from '../src/index.ts';
import { ordinaryRequest } from './ordinary-traffic.ts';

const count = Number(process.argv[2] ?? 100_000);
const ruleSet = existsSync(crs3Rules) ? compileCrs3(1) : compile([baselineRules, ownRules]).ruleSet!;
const alarms = new Map<string, number>();
for (let seed = 0; seed < count; seed++) {
  const { matches } = ruleSet.inspect(ordinaryRequest(seed), { mode: 'detect' });
  for (const { id, variable } of matches) {
    const name = `${id} ${variable}`;
    alarms.set(name, (alarms.get(name) ?? 0) + 1);
  }
}
process.stdout.write(`${count} ordinary requests\n`);
for (const [name, times] of [...alarms].sort(([, a], [, b]) => b - a)) process.stdout.write(`${name} ${times}\n`);
