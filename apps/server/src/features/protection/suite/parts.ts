import type { Applied } from '@sallyport/enforcement/live-map';
import type { Logger } from 'pino';
import { createTurns } from '../../in-turn.ts';

export type Part = 'whitelist' | 'guards' | 'rate limit' | 'traffic' | 'bans' | 'switches';

/** How it is told that there is no HAProxy to change: it reads what was written for it when it starts. */
export const isAway = (issue: string | null | undefined): boolean =>
  issue?.startsWith('HAProxy is not running') === true;

/** What each part of the data plane was told last, and which of them is not in force. */
export const createParts = (log: Logger) => {
  const issues = new Map<Part, string>();
  /** Parts that are being told something, or wait for it. */
  const underway: Part[] = [];
  /** Text of what each part was last told, kept only while it is in force. */
  const told = new Map<Part, string>();
  /** Calls that are for HAProxy, one after the other. */
  const inTurn = createTurns();

  const settle = (part: Part, { applied, issue }: Applied, content: string | undefined) => {
    if (applied) {
      issues.delete(part);
      if (content !== undefined) told.set(part, content);
    } else {
      issues.set(part, issue ?? 'not applied');
      told.delete(part);
    }
  };

  const run = async (part: Part, apply: () => Promise<Applied>, content?: string): Promise<void> => {
    underway.push(part);
    try {
      settle(part, await apply(), content);
    } catch (err) {
      // A full disk, for example. It is tried again like everything else that is not in force, and told when it is another one.
      const issue = err instanceof Error ? err.message : String(err);
      if (issues.get(part) !== issue) log.error({ err, part }, 'a part of the suite could not be enforced');
      settle(part, { applied: false, issue }, content);
    } finally {
      underway.splice(underway.indexOf(part), 1);
    }
  };

  return {
    /** Tells a part something beside HAProxy's turn, whatever it was told before. Never rejects. */
    run,

    /** Tells HAProxy what changes a part, in its turn. Never rejects. */
    change: (part: Part, apply: () => Promise<Applied>): Promise<void> => run(part, () => inTurn(apply)),

    /** Tells HAProxy all there is of a part, in its turn, unless exactly that is in force. Never rejects. */
    async tell(part: Part, content: unknown, apply: () => Promise<Applied>): Promise<void> {
      const text = JSON.stringify(content);
      if (told.get(part) === text) return;
      await run(part, () => inTurn(apply), text);
    },

    isTold: (part: Part, content: string): boolean => told.get(part) === content,
    noteTold: (part: Part, content: string): void => void told.set(part, content),
    /** Everything is told again. */
    forget: (): void => told.clear(),

    /** Runs something on HAProxy in its turn that is no part. */
    inTurn,

    /** Whether HAProxy was told this part, unless there is none to be told. */
    isTaken: (part: Part): boolean => !issues.has(part) || isAway(issues.get(part)),

    isWhole: (): boolean => issues.size === 0,
    hasIssue: (part: Part): boolean => issues.has(part),

    /** What is not in force and why, and what is on its way. */
    problems(): string[] {
      const parts = [...new Set(underway)].map((part) => `a change of the ${part} is being applied`);
      // Parts mostly fail for one reason and name different commands after it.
      const reasons = new Map([...issues.values()].map((issue) => [issue.split(':', 1)[0], issue]));
      return [...reasons.values(), ...parts];
    },
  };
};
export type Parts = ReturnType<typeof createParts>;
