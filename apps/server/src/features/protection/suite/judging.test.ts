import type { GuardConfig } from '@sallyport/contract';
import type { GuardSwitches } from '@sallyport/enforcement/entries';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import type { EnforcementPlane } from '../../../dataplane/protection/port.ts';
import { createGuardConfigFile } from './guard-config-file.ts';
import { createJudging } from './judging.ts';
import { createParts } from './parts.ts';
import type { SecurityState } from './state.ts';

const ASKED = { judgeAccess: true, judgeWaf: true, failMode: 'closed' } as const;
const NOT_APPLIED = { applied: false, issue: 'guard-0 hangs' };

/** A state in which the host 7 has no firewall, or has. */
const stateOf = (switches: SecurityState['switches'], firewall = false): SecurityState => ({
  ...{
    whitelist: [],
    rateLimit: null,
    bansEnforced: true,
    crowdsecEnforced: false,
    issue: null,
    nextExpiry: undefined,
  },
  switches,
  guard: {
    access: { enabled: switches.judgeAccess, lists: [] },
    waf: {
      ...{ enabled: switches.judgeWaf, mode: 'block', fail_mode: switches.failMode },
      ...{ rule_sources: [], exclusions: [], body_limit: 1 },
    },
    admin_whitelist: [],
    hosts: [{ id: 7, access_list_id: null, waf_enabled: firewall }],
  },
});

const asked = ({ judgeAccess, judgeWaf, failMode, policy, remembered }: GuardSwitches) =>
  `${judgeAccess ? 'access' : '-'} ${judgeWaf ? 'waf' : '-'} ${failMode} policy ${policy} remembered ${remembered}`;

/** A judging whose plane notes what it is told in `told` and answers what `answers` says. */
const given = async (work: (it: ReturnType<typeof setUp>) => Promise<void>) =>
  withTemporaryDirectory((dataDir) => work(setUp(dataDir)));

const setUp = (dataDir: string) => {
  const told: string[] = [];
  const answers = {
    switches: { applied: true, issue: null } as { applied: boolean; issue: string | null },
    guards: async (_config: GuardConfig): Promise<{ applied: boolean; issue: string | null }> => ({
      ...{ applied: true, issue: null },
    }),
    judges: undefined as Awaited<ReturnType<EnforcementPlane['judges']>>,
  };
  let state: SecurityState | undefined;
  const parts = createParts(pino({ level: 'silent' }));
  const guardFile = createGuardConfigFile(dataDir);
  const judging = createJudging({
    plane: {
      async applySwitches(switches: GuardSwitches) {
        told.push(asked(switches));
        return answers.switches;
      },
      async applyGuardConfig(config: GuardConfig) {
        told.push(`guards ${config.revision}`);
        return answers.guards(config);
      },
      judges: async () => answers.judges,
    } as EnforcementPlane,
    ...{ guardFile, parts },
    newest: () => state,
    async closeMoving(ids) {
      told.push(`close ${ids.join()}`);
      return async () => void told.push('open');
    },
    onTurn: () => told.push('over'),
  });
  return {
    ...{ judging, answers, parts, guardFile },
    told: () => told.splice(0),
    setState(next: SecurityState) {
      state = next;
    },
    /** Takes a turn of this state, and tells what was told. */
    async turn(next: SecurityState) {
      state = next;
      judging.takeTurn();
      await judging.idle();
      return told.splice(0);
    },
  };
};

test('guards know before they are asked, and nothing is told twice', () =>
  given(async ({ judging, turn, told }) => {
    judging.takeTurn();
    await judging.idle();
    expect(told()).toEqual([]);
    expect(judging.hosts()).toEqual([]);
    expect(await turn(stateOf(ASKED))).toEqual(['guards 1', 'access waf closed policy 1 remembered 1', 'over']);
    expect(judging.hosts().map(({ id }) => id)).toEqual([7]);
    expect(await turn(stateOf(ASKED))).toEqual(['over']);
    const onlyWaf = { ...ASKED, judgeAccess: false };
    expect(await turn(stateOf(onlyWaf))).toEqual([
      // What was passed is forgotten before guards are told anything else.
      ...['access waf closed policy 1 remembered 0', 'guards 2'],
      ...['- waf closed policy 2 remembered 0', 'over'],
    ]);
    // Nothing is remembered: nothing has to be forgotten.
    expect(await turn(stateOf(ASKED))).toEqual(['guards 3', 'access waf closed policy 3 remembered 3', 'over']);
  }));

test('hosts that are judged otherwise are closed until HAProxy demands it, while anything is judged', () =>
  given(async ({ turn }) => {
    await turn(stateOf(ASKED));
    expect(await turn(stateOf(ASKED, true))).toEqual([
      ...['close 7', 'access waf closed policy 1 remembered 0', 'guards 2'],
      ...['access waf closed policy 2 remembered 2', 'open', 'over'],
    ]);
    const nothing = { ...ASKED, judgeAccess: false, judgeWaf: false };
    await turn(stateOf(nothing, true));
    expect(await turn(stateOf(nothing))).not.toContain('close 7');
    await turn(stateOf({ ...nothing, judgeWaf: true }));
    expect(await turn(stateOf({ ...nothing, judgeWaf: true }, true))).toContain('close 7');
    await turn(stateOf({ ...nothing, judgeAccess: true }, true));
    expect(await turn(stateOf({ ...nothing, judgeAccess: true }))).toContain('close 7');
  }));

test('verdicts are of what guards serve: when they are not told, of what they had', () =>
  given(async ({ turn, answers, parts, guardFile }) => {
    const ok = answers.guards;
    answers.guards = async () => NOT_APPLIED;
    // None was seen to serve anything: what is on disk for them.
    expect(await turn(stateOf(ASKED))).toContain('access waf closed policy 1 remembered 0');
    expect(parts.problems()).toEqual(['guard-0 hangs']);
    answers.guards = ok;
    expect(await turn(stateOf(ASKED))).toEqual(['guards 1', 'access waf closed policy 1 remembered 1', 'over']);
    answers.guards = async () => {
      throw new Error('the disk is full');
    };
    expect(await turn(stateOf(ASKED, true))).toEqual([
      ...['close 7', 'access waf closed policy 1 remembered 0', 'guards 2', 'open', 'over'],
    ]);
    expect(parts.problems()).toEqual(['the disk is full']);
    // Something newer is demanded by the time they have it.
    answers.guards = async () => {
      await guardFile.write(stateOf({ ...ASKED, failMode: 'open' }).guard);
      return { applied: true, issue: null };
    };
    expect(await turn(stateOf(ASKED, true))).toEqual(['guards 2', 'over']);
    expect(parts.isTold('guards', '2')).toBe(false);
    answers.guards = ok;
    expect(await turn(stateOf(ASKED, true))).toEqual(['guards 4', 'access waf closed policy 4 remembered 4', 'over']);
  }));

test('what a newer state says is left to its own turn', () =>
  given(async ({ judging, turn, answers, setState, told }) => {
    const ok = answers.guards;
    answers.guards = async () => {
      setState(stateOf({ ...ASKED, judgeWaf: false }));
      return { applied: true, issue: null };
    };
    expect(await turn(stateOf(ASKED))).toEqual(['guards 1', 'over']);
    answers.guards = ok;
    judging.takeTurn();
    await judging.idle();
    expect(told()).toEqual(['guards 2', 'access - closed policy 2 remembered 2', 'over']);
  }));

test('while routes change nothing is remembered and the demand stays; then it follows', () =>
  given(async ({ judging, turn, told }) => {
    // Nothing is in force: there is nothing to follow.
    judging.routesChange()();
    await judging.idle();
    expect(told()).toEqual([]);
    await turn(stateOf(ASKED));
    const [first, second] = [judging.routesChange(), judging.routesChange()];
    expect(await turn(stateOf(ASKED, true))).toEqual([
      ...['close 7', 'access waf closed policy 1 remembered 0', 'guards 2', 'open', 'over'],
    ]);
    first();
    await judging.idle();
    expect(told()).toEqual([]);
    second();
    await judging.idle();
    expect(told()).toEqual(['access waf closed policy 2 remembered 2', 'over']);
    judging.routesChange()();
    await judging.idle();
    expect(told()).toEqual([]);
    // Only what may be remembered is behind.
    const third = judging.routesChange();
    expect(await turn(stateOf(ASKED, true))).toEqual(['access waf closed policy 2 remembered 0', 'over']);
    third();
    await judging.idle();
    expect(told()).toEqual(['access waf closed policy 2 remembered 2', 'over']);
  }));

test('what is not to be asked any more ends at once, and nothing begins that way', () =>
  given(async ({ judging, turn, told, answers }) => {
    await judging.stopAsking(ASKED);
    expect(told()).toEqual([]);
    await turn(stateOf({ ...ASKED, judgeAccess: false }));
    await judging.stopAsking({ ...ASKED, failMode: 'open' });
    expect(told()).toEqual(['- waf open policy 1 remembered 0']);
    await judging.stopAsking({ ...ASKED, judgeWaf: false, failMode: 'open' });
    expect(told()).toEqual(['- - open policy 1 remembered 0']);
    await turn(stateOf({ ...ASKED, judgeWaf: false }));
    await judging.stopAsking(ASKED);
    expect(told()).toEqual([]);
    // HAProxy did not take it: it still asks, and is told again.
    answers.switches = { applied: false, issue: 'HAProxy hangs' };
    const off = { ...ASKED, judgeAccess: false, judgeWaf: false };
    await judging.stopAsking(off);
    await judging.stopAsking({ ...off, judgeAccess: true });
    expect(told().map((line) => line.slice(0, 8))).toEqual(['- - clos', 'access -']);
  }));

test('a demand is of what guards were not told yet', () =>
  given(async ({ judging, turn, told, answers }) => {
    await turn(stateOf(ASKED));
    const restored = stateOf(ASKED, true);
    await judging.demand(restored);
    expect(told()).toEqual(['access waf closed policy 2 remembered 0']);
    expect(judging.hosts()).toEqual([]);
    answers.guards = async () => NOT_APPLIED;
    // What they served before counts no more, and no host is closed that all are refused of.
    expect(await turn(restored)).toEqual(['guards 2', 'over']);
  }));

test('tells which guards are away, and what becomes of requests when none judges', () =>
  given(async ({ judging, turn, answers }) => {
    const fine = { isJudged: true, issue: null };
    answers.judges = { total: 2, away: ['guard-0', 'guard-1'] };
    expect(await judging.health()).toEqual(fine);
    await turn(stateOf({ ...ASKED, judgeAccess: false }));
    const none = 'no guard answers: requests that need a verdict';
    expect(await judging.health()).toEqual({ isJudged: false, issue: `${none} are refused with 503` });
    await turn(stateOf({ ...ASKED, judgeWaf: false, failMode: 'open' }));
    const open = `${none} pass without one (waf_fail_mode is open)`;
    expect(await judging.health()).toEqual({ isJudged: false, issue: open });
    answers.judges = { total: 0, away: [] };
    expect(await judging.health()).toEqual({ isJudged: false, issue: open });
    answers.judges = { total: 3, away: ['guard-1'] };
    const one = 'guard-1 does not answer: the other guards judge alone';
    expect(await judging.health()).toEqual({ isJudged: true, issue: one });
    answers.judges = { total: 3, away: ['guard-1', 'guard-2'] };
    const two = 'guard-1, guard-2 do not answer: the other guards judge alone';
    expect(await judging.health()).toEqual({ isJudged: true, issue: two });
    answers.judges = { total: 3, away: [] };
    expect(await judging.health()).toEqual(fine);
    answers.judges = undefined;
    expect(await judging.health()).toEqual(fine);
    answers.judges = { total: 1, away: ['guard-0'] };
    await turn(stateOf({ ...ASKED, judgeAccess: false, judgeWaf: false }));
    expect(await judging.health()).toEqual(fine);
  }));
