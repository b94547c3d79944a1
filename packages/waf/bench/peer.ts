// CPU per request side by side in one run: this engine, and nginx with libmodsecurity3, on the same rules (Debian's CRS 3.3.4, PL1).
// node packages/waf/bench/peer.ts   (needs nginx, libnginx-mod-http-modsecurity, wrk and modsecurity-crs)

import { kinds } from '../../../test/support/waf/requests.ts';
import { measureEngine } from './measure-engine.ts';
import { startPeer } from './nginx.ts';

const reach = { cold: 12, warm: 25 };

const peer = await startPeer();
try {
  for (const kind of kinds) {
    const cold = measureEngine(1, kind, 'cold');
    const off = await peer.measure(kind, 'off');
    const on = await peer.measure(kind, 'on');
    const warm = measureEngine(1, kind, 'warm');
    const cost = on - off;
    const line = [
      kind.padEnd(4),
      `libmodsecurity ${cost.toFixed(0)} µs (nginx alone ${off.toFixed(1)})`,
      `cold ${cold.toFixed(0)} µs = 1/${(cost / cold).toFixed(1)} (reach 1/${reach.cold})`,
      `warm ${warm.toFixed(0)} µs = 1/${(cost / warm).toFixed(1)} (reach 1/${reach.warm})`,
    ];
    process.stdout.write(`${line.join(', ')}\n`);
  }
} finally {
  await peer.stop();
}
