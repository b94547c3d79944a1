import { createTurns } from '../../in-turn.ts';
import type { Configured } from './configured.ts';
import type { ConsoleCredentials } from './console/credentials.ts';
import { type Instance, type Rules, writeConsole, writeRules } from './instance.ts';
import type { HubPreset, PresetChoice } from './presets/hub.ts';
import type { CrowdsecProcess } from './process.ts';
import type { RulesInForce } from './rules-in-force.ts';

export interface FollowConfiguredDeps {
  instance: Instance;
  rules: RulesInForce;
  configured: () => Promise<Configured>;
  /** The process that is there. */
  running: () => CrowdsecProcess | undefined;
  /** Ends this process, and starts another one in its place. */
  startAnew: (child: CrowdsecProcess) => Promise<void>;
}

/** Takes what is stored to the process that runs: most of it by a signal, the console's credentials by a new start. */
export const followConfigured = ({ instance, rules, configured, running, startAnew }: FollowConfiguredDeps) => {
  /** What the process was told last. */
  let told: Configured = { whitelist: [], choices: [], console: undefined };
  /** They share what they write. */
  const inTurn = createTurns();

  const follow = async (): Promise<void> => {
    // Before it reads, the signal would end it.
    const child = running();
    if (!child?.isReading()) return;
    const now = await configured();
    if (JSON.stringify(now.console) !== JSON.stringify(told.console)) {
      writeConsole(instance, now.console);
      // Whom it tells it learns at its start only.
      await startAnew(child);
      return;
    }
    if (JSON.stringify(now) === JSON.stringify(told)) return;
    const next = await rules.loadable(now);
    // It may be another one since.
    const reader = running();
    if (!reader?.isReading()) return;
    rules.put(next);
    writeRules(instance, next);
    reader.reload();
    told = now;
  };

  return {
    /** What a process that starts is told: asked for right before it is written. */
    async atStart(): Promise<{ rules: Rules; console: ConsoleCredentials | undefined }> {
      told = await configured();
      const chosen = rules.chosen(told);
      rules.put(chosen);
      return { rules: chosen, console: told.console };
    },

    /** Resolves when the process, if there is one that reads, was told what has changed. */
    follow: (): Promise<void> => inTurn(follow),

    /** Throws a 422 with CrowdSec's words when it can't load a scenario of this preset, were the choices these. */
    check: (preset: HubPreset, choices: readonly PresetChoice[]): Promise<void> =>
      inTurn(async () => rules.check(preset, { whitelist: (await configured()).whitelist, choices })),
  };
};
