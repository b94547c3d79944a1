import { RuntimeRefused, RuntimeUnavailable } from '../runtime/runtime-errors.ts';

interface AttemptDeps {
  /** HAProxy may be gone. */
  suspect(reason: string): void;
  /** Something other than that went wrong. */
  onFailed(err: unknown): void;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Ways to run commands at HAProxy that answer why they did not take effect, undefined when they did. */
export const createAttempts = ({ suspect, onFailed }: AttemptDeps) => {
  const failure = (error: unknown): string => {
    const reason = messageOf(error);
    suspect(reason);
    if (!(error instanceof RuntimeUnavailable)) onFailed(error);
    return error instanceof RuntimeUnavailable ? `HAProxy is not running: ${reason}` : reason;
  };

  return {
    /** Runs commands; whatever goes wrong with them ends them. */
    async attempt(commands: () => Promise<void>): Promise<string | undefined> {
      try {
        await commands();
        return undefined;
      } catch (error) {
        return failure(error);
      }
    },

    /** Runs `task` with a way to HAProxy that goes on with the files when HAProxy cannot be reached. */
    async withLive(
      task: (live: (step: () => Promise<unknown>) => Promise<void>) => Promise<void>,
    ): Promise<string | undefined> {
      let issue: string | undefined;
      const live = async (step: () => Promise<unknown>): Promise<void> => {
        if (issue !== undefined) return;
        try {
          await step();
        } catch (error) {
          if (!(error instanceof RuntimeUnavailable)) throw error;
          issue = failure(error);
        }
      };
      try {
        await task(live);
      } catch (error) {
        if (!(error instanceof RuntimeRefused)) throw error;
        issue = failure(error);
      }
      return issue;
    },
  };
};
