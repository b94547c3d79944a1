import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { guardFiles } from '@sallyport/deployment/places';
import { expect, onTestFinished, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../test/support/temporary-directory.ts';
import { tellGuards } from './guards.ts';

const APPLIED = { applied: true, issue: null };
const notApplied = (issue: string) => ({ applied: false, issue });

/** A guard's control socket, where `answer` is all that is done with what is asked. */
const givenGuard = async (dataDir: string, worker: number, answer: (socket: Socket, asked: string) => void) => {
  const path = guardFiles(dataDir, worker).control;
  mkdirSync(dirname(path), { recursive: true });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', (asked) => answer(socket, asked.toString()));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
};

const serving =
  (revision: number, diagnostics: string[] = []) =>
  (socket: Socket): void =>
    void socket.end(`${JSON.stringify({ revision, diagnostics })}\n`);

const inDirectory = (
  work: (
    tell: (revision: number, isNeeded?: boolean) => ReturnType<typeof tellGuards>,
    dataDir: string,
  ) => Promise<void>,
) =>
  withTemporaryDirectory((dataDir) =>
    work((revision, isNeeded = true) => tellGuards({ dataDir, guards: 2 }, revision, isNeeded), dataDir),
  );

test('a revision is in force when every guard that runs serves it, or a newer one', () =>
  inDirectory(async (tell, dataDir) => {
    const asked: string[] = [];
    await givenGuard(dataDir, 0, (socket, line) => {
      asked.push(line);
      serving(8)(socket);
    });
    expect(await tell(7)).toEqual(APPLIED);
    expect(await tell(8)).toEqual(APPLIED);
    expect(asked).toEqual(['{"revision":7}\n', '{"revision":8}\n']);
    expect(await tell(9)).toEqual(notApplied('guard 0: serves revision 8'));
    await givenGuard(dataDir, 1, serving(7, ['the rules are wrong', 'and more']));
    expect(await tell(8)).toEqual(notApplied('guard 1: the rules are wrong'));
    expect(await tell(9)).toEqual(notApplied('guard 0: serves revision 8; guard 1: the rules are wrong'));
    expect(await tell(7)).toEqual(APPLIED);
  }));

test('that no guard runs matters only where one has to judge', () =>
  inDirectory(async (tell, dataDir) => {
    expect(await tell(1)).toEqual(notApplied('no guard is running'));
    expect(await tell(1, false)).toEqual(APPLIED);
    // A file that a guard left behind when it was killed answers nobody.
    await givenGuard(dataDir, 1, (socket) => socket.destroy());
    expect(await tell(1)).toEqual(notApplied('no guard is running'));
    await givenGuard(dataDir, 0, serving(1));
    expect(await tell(1)).toEqual(APPLIED);
  }));

test('an answer in pieces is one answer, and what is none is told', () =>
  inDirectory(async (tell, dataDir) => {
    await givenGuard(dataDir, 0, (socket) => {
      socket.write('{"revision":');
      setImmediate(() => socket.end('3,"diagnostics":[]}\n'));
    });
    expect(await tell(3)).toEqual(APPLIED);
    await givenGuard(dataDir, 1, (socket) => void socket.end('not an answer\n'));
    expect(await tell(3)).toMatchObject({ applied: false, issue: expect.stringContaining('is not valid JSON') });
  }));

test.each(['{}', 'null', '{"revision":"x","diagnostics":[]}'])('%s puts nothing in force', (answer) =>
  inDirectory(async (tell, dataDir) => {
    await givenGuard(dataDir, 0, (socket) => void socket.end(`${answer}\n`));
    expect(await tell(1)).toMatchObject({ applied: false });
  }),
);

test('an answer that does not end is not read for ever', () =>
  inDirectory(async (tell, dataDir) => {
    await givenGuard(dataDir, 0, (socket) => {
      const flood = (): void => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
        if (!socket.destroyed) socket.once('drain', flood);
      };
      flood();
    });
    expect(await tell(1)).toEqual(notApplied('guard 0: the answer does not end'));
  }));

test('what can not be reached for another reason than that it is away is told', () =>
  inDirectory(async (tell, dataDir) => {
    const path = guardFiles(dataDir, 0).control;
    mkdirSync(dirname(dirname(path)), { recursive: true });
    // A file where a directory should be.
    writeFileSync(dirname(path), '');
    expect(await tell(1, false)).toMatchObject({ applied: false, issue: expect.stringContaining('ENOTDIR') });
  }));
