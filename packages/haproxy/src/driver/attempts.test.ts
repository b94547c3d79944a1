import { beforeEach, describe, expect, test } from 'vitest';
import { RuntimeRefused, RuntimeUnavailable } from '../runtime/runtime-errors.ts';
import { createAttempts } from './attempts.ts';

const gone = new RuntimeUnavailable('nobody listens');
const refused = new RuntimeRefused('set map', 'entry not found.\n');
const bug = new TypeError('x is undefined');

let suspected: string[];
let failed: unknown[];
const { attempt, withLive } = createAttempts({
  suspect: (reason) => suspected.push(reason),
  onFailed: (error) => failed.push(error),
});
beforeEach(() => {
  suspected = [];
  failed = [];
});

describe('commands', () => {
  test('that take effect have no issue', async () => {
    expect(await attempt(async () => {})).toBeUndefined();
    expect([suspected, failed]).toEqual([[], []]);
  });

  test.each([
    ['HAProxy is away', gone, 'HAProxy is not running: nobody listens', []],
    ['HAProxy refuses', refused, refused.message, [refused]],
    ['there is a bug', bug, bug.message, [bug]],
  ])('that fail have HAProxy looked over, and say why: %s', async (_what, error, issue, told) => {
    const commands = () => Promise.reject(error);
    expect(await attempt(commands)).toBe(issue);
    expect([suspected, failed]).toEqual([[error.message], told]);
  });

  test('that fail with what is no error say what it is', async () => {
    expect(await attempt(() => Promise.reject('no reason'))).toBe('no reason');
  });
});

describe('files that are written as HAProxy is told', () => {
  const steps = (errors: (Error | undefined)[]) => {
    const taken: string[] = [];
    const issue = withLive(async (live) => {
      for (const [index, error] of errors.entries()) {
        await live(async () => {
          if (error) throw error;
          taken.push(`told ${index}`);
        });
        taken.push(`written ${index}`);
      }
    });
    return issue.then((text) => ({ issue: text, taken }));
  };

  test('have no issue when it takes all', async () => {
    expect(await steps([undefined, undefined])).toEqual({
      issue: undefined,
      taken: ['told 0', 'written 0', 'told 1', 'written 1'],
    });
  });

  test('are written all the same when it is away, which is asked once', async () => {
    expect(await steps([undefined, gone, undefined, gone])).toEqual({
      issue: 'HAProxy is not running: nobody listens',
      taken: ['told 0', 'written 0', 'written 1', 'written 2', 'written 3'],
    });
    expect([suspected, failed]).toEqual([[gone.message], []]);
  });

  test('are written no further when it refuses', async () => {
    expect(await steps([undefined, refused, undefined])).toEqual({
      issue: refused.message,
      taken: ['told 0', 'written 0'],
    });
    expect([suspected, failed]).toEqual([[refused.message], [refused]]);
  });

  test('what is no answer of HAProxy rejects', async () => {
    await expect(steps([bug])).rejects.toBe(bug);
    expect([suspected, failed]).toEqual([[], []]);
  });
});
