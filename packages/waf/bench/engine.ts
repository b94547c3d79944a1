// CPU per request of the engine alone, and what loading CRS costs: node packages/waf/bench/engine.ts
import { compileCrs3 } from '../../../test/support/waf/crs.ts';
import { engineRequest, kinds } from '../../../test/support/waf/requests.ts';
import { measureEngine } from './measure-engine.ts';

const before = process.memoryUsage.rss();
const start = process.cpuUsage();
const ruleSet = compileCrs3(1);
const load = process.cpuUsage(start);
const loadMs = (load.user + load.system) / 1_000;
for (const kind of kinds) ruleSet.inspect(engineRequest(kind, '1'));
const megabytes = (process.memoryUsage.rss() - before) / 1e6;
process.stdout.write(`CRS 3.3.4 loads in ${loadMs.toFixed(0)} ms of CPU and takes ${megabytes.toFixed(0)} MB\n`);

for (const level of [1, 4] as const) {
  for (const kind of kinds) {
    const [bare, cold, warm] = (['no memo', 'cold', 'warm'] as const).map((temperature) =>
      measureEngine(level, kind, temperature),
    );
    process.stdout.write(
      `PL${level} ${kind.padEnd(4)} no memo ${bare!.toFixed(0).padStart(4)} µs, cold ${cold!.toFixed(0).padStart(4)} µs, warm ${warm!.toFixed(0).padStart(4)} µs\n`,
    );
  }
}
