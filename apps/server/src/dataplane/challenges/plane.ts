import { adminSocket } from '@sallyport/deployment/places';
import { createEnforcementMap } from '@sallyport/enforcement/live-map';
import {
  type ChallengeAnswer,
  challengeEntry,
  createAdminSocket,
  dataPlaneFiles,
  isChallengeAnswer,
} from '@sallyport/haproxy';
import type { Logger } from 'pino';
import { createBatches } from '../batches.ts';

const HEADING = 'Paths that certificate authorities ask for, and what each is answered.';

const challengeMap = (dataDir: string) =>
  createEnforcementMap({
    dataDir,
    socket: createAdminSocket({ path: adminSocket(dataDir) }),
    file: dataPlaneFiles.challengesMap,
    heading: HEADING,
  });

/** Lines for the answers that can be given; another one, whoever put it into the store, must not keep them from it. */
const entriesOf = (answers: readonly ChallengeAnswer[], log: Logger): [string, string][] => {
  const good = answers.filter(isChallengeAnswer);
  const bad = answers.length - good.length;
  if (bad > 0) log.error({ bad }, 'the store holds answers to challenges that cannot be given');
  return good.map(challengeEntry);
};

/** Writes what HAProxy starts with; what can't be written leaves a file that answers nobody, and is told. */
export const renderChallenges = async (
  dataDir: string,
  answers: readonly ChallengeAnswer[],
  log: Logger,
): Promise<void> => {
  await challengeMap(dataDir)
    .write(entriesOf(answers, log))
    .catch((err: unknown) => log.warn({ err }, 'answers to challenges are not there when HAProxy starts'));
};

export interface ChallengePlaneDeps {
  dataDir: string;
  /** All answers that are stored and not past their time. */
  stored: () => Promise<readonly ChallengeAnswer[]>;
  log: Logger;
}

/** Keeps HAProxy's answers to challenges, and the file that it starts from, equal to the store. */
export const createChallengePlane = ({ dataDir, stored, log }: ChallengePlaneDeps) => {
  const map = challengeMap(dataDir);
  let isBehind = true;

  const syncOnce = async (): Promise<void> => {
    isBehind = true;
    const entries = entriesOf(await stored(), log);
    // A full disk is no reason not to answer: the file is for the next start, and is written anew before it.
    await map.write(entries).catch((err: unknown) => log.warn({ err }, 'answers to challenges could not be written'));
    await map.replace(entries);
    isBehind = false;
  };
  const batches = createBatches(
    () => undefined,
    () => syncOnce(),
  );

  return {
    /** Makes HAProxy answer what is stored now. Rejects with why it does not. */
    sync: (): Promise<void> => batches.enqueue(() => {}),

    /** Whether HAProxy would give these answers; asks it. Rejects when it can't be asked. */
    async gives(answers: readonly ChallengeAnswer[]): Promise<boolean> {
      for (const [path, body] of answers.map(challengeEntry)) {
        if ((await map.commands.get(path)) !== body) return false;
      }
      return true;
    },

    /** Whether the last attempt failed, or there was none yet. */
    isBehind: (): boolean => isBehind,

    stop: batches.idle,
  };
};
export type ChallengePlane = ReturnType<typeof createChallengePlane>;
