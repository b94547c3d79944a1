import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Holds up this whole process, its loop too: for `ms`, and until there is a file. */
export const standStill = (ms: number, untilFile?: string): void => {
  const never = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(never, 0, 0, ms);
  while (untilFile !== undefined && !existsSync(untilFile)) Atomics.wait(never, 0, 0, 5);
};

const ANSWERER = `
  const { existsSync, writeFileSync } = require('node:fs');
  const [directory, answer] = process.argv.slice(1);
  require('node:net').createServer((socket) => socket.on('error', () => {}).once('data', () => {
    writeFileSync(directory + '/asked', '');
    const waiting = setInterval(() => {
      if (!existsSync(directory + '/go')) return;
      clearInterval(waiting);
      socket.end(answer, () => writeFileSync(directory + '/answered', ''));
    }, 5);
  })).listen(directory + '/socket', () => console.log('listening'));
  process.stdin.on('end', () => process.exit()).resume();
`;

/** Another process, at the unix socket `path`, that takes one question and answers it while this process stands still for `ms`. */
export const startAnswerer = async (directory: string, answer: string, ms: number) => {
  const child = spawn(process.execPath, ['-e', ANSWERER, directory, answer], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return {
    path: join(directory, 'socket'),
    /** Resolves when this process has stood still, and the answer lies there to be read. */
    async standStillWhileItAnswers(): Promise<void> {
      // In the turn after reading: what is next are the timers, and then comes what has arrived.
      do await nextTurn();
      while (!existsSync(join(directory, 'asked')));
      writeFileSync(join(directory, 'go'), '');
      standStill(ms, join(directory, 'answered'));
    },
    async stop(): Promise<void> {
      child.stdin.end();
      await once(child, 'close');
    },
  };
};
