/** A thread of sign-in.ts: sends failing sign-ins at a steady rate, each from an address of its own, and counts the answers. */
import { parentPort, workerData } from 'node:worker_threads';

const { api, perSecond, seconds } = workerData as { api: string; perSecond: number; seconds: number };
const TICK_MS = 20;

const statuses = new Map<number, number>();
const pending: Promise<void>[] = [];
let count = 0;

const attempt = async (n: number): Promise<void> => {
  const answer = await fetch(`${api}/auth/login`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-forwarded-for': `2001:db8:${(n >> 8).toString(16)}:${(n & 255).toString(16)}::2`,
    },
    body: JSON.stringify({ email: `flood-${n}@example.com`, password: 'wrong password' }),
  });
  await answer.arrayBuffer();
  statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
};

const start = performance.now();
const timer = setInterval(() => {
  const elapsed = performance.now() - start;
  // As many as are due: a busy machine must not make it a smaller flood.
  for (; count < (Math.min(elapsed, seconds * 1000) * perSecond) / 1000; count += 1) pending.push(attempt(count));
  if (elapsed < seconds * 1000) return;
  clearInterval(timer);
  void Promise.all(pending).then(() => {
    const told = [...statuses].map(([status, times]) => `${times} × ${status}`).join(', ');
    parentPort?.postMessage(`${Math.round(count / seconds)}/s; ${told}`);
  });
}, TICK_MS);
