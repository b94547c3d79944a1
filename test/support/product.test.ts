import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isStillRunning, listProcesses } from '@sallyport/deployment/processes';
import { readState } from '@sallyport/deployment/supervisor-state';
import { expect, test } from 'vitest';
import { freePorts } from './free-ports.ts';
import { createProduct } from './product.ts';

/** Everything that this process and its children started and that lives. */
const descendantsOf = (pid: number): { pid: number; startTime: string }[] =>
  listProcesses()
    .filter(({ parentPid }) => parentPid === pid)
    .flatMap((child) => [child, ...descendantsOf(child.pid)]);

test('nothing is left of a product once it is removed, also when its supervisor was killed', async () => {
  const [api = 0, http = 0, https = 0, emergency = 0] = await freePorts(4);
  const product = createProduct({ api, http, https }, undefined, {
    SALLYPORT_EMERGENCY_TOKEN: 'f'.repeat(64),
    SALLYPORT_EMERGENCY_BIND: `127.0.0.1:${emergency}`,
  });
  await product.start();
  const { supervisor } = product.pids();
  const all = descendantsOf(supervisor);
  const children = readState(join(product.dataDir, 'supervisor.json'))?.children ?? [];
  expect(children.map(({ name }) => name)).toContain('emergency');
  expect(product.processes()).toEqual(expect.arrayContaining([supervisor, ...all.map(({ pid }) => pid)]));
  expect(all.map(({ pid }) => pid)).toEqual(expect.arrayContaining(children.map(({ pid }) => pid)));

  product.kill('supervisor');
  await product.remove();
  expect(all.filter(isStillRunning)).toEqual([]);
  expect(product.processes()).toEqual([]);
  expect(existsSync(product.dataDir)).toBe(false);
});
