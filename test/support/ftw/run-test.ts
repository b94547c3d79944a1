import type { RuleMatch, RuleSet } from '@sallyport/waf';
import { answer } from './back-end.ts';
import { readRequest } from './front-end.ts';
import type { FtwTest, Stage } from './suite.ts';
import { toBytes } from './to-bytes.ts';

const now = Date.UTC(2026, 0, 15, 12);

/** Runs a test; the answer says what was wrong, or is null when everything expected came. */
export const runTest = (test: FtwTest, ruleSet: RuleSet): string | null => {
  for (const stage of test.stages) {
    const problem = runStage(stage, ruleSet, test.isOldDialect);
    if (problem !== null) return problem;
  }
  return null;
};

const runStage = (stage: Stage, ruleSet: RuleSet, isOldDialect: boolean): string | null => {
  const { request, isRefused, isIncomplete } = readRequest(toBytes(stage, isOldDialect), now);
  const { output } = stage;
  const statuses = [output.status ?? []].flat();
  // What a web server refuses by itself never reaches its rules.
  if (isRefused && statuses.some((status) => status >= 400)) return null;
  const { matches, wouldBe } = ruleSet.begin(request).inspectResponse(answer(request));
  const log = matches.map(toLogLine).join('\n');
  const has = (text: string): boolean => log.includes(text);
  const { expect_ids = [], no_expect_ids = [], match_regex, no_match_regex } = output.log ?? {};
  for (const id of expect_ids) if (!has(`[id "${id}"]`)) return `rule ${id} did not fire; fired: ${fired(matches)}`;
  for (const id of no_expect_ids)
    if (has(`[id "${id}"]`)) return `rule ${id} fired: ${log.split('\n').find((line) => line.includes(String(id)))}`;
  if (match_regex !== undefined && !new RegExp(match_regex).test(log))
    return `the log does not match ${match_regex}: ${log}`;
  if (no_match_regex !== undefined && new RegExp(no_match_regex).test(log))
    return `the log matches ${no_match_regex}: ${fired(matches)}`;
  if (output.log_contains !== undefined && !new RegExp(output.log_contains).test(log)) {
    return `the log does not contain ${output.log_contains}; fired: ${fired(matches)}`;
  }
  if (output.no_log_contains !== undefined && new RegExp(output.no_log_contains).test(log)) {
    return `the log contains ${output.no_log_contains}`;
  }
  if (output.expect_error === true) return isIncomplete ? null : 'the request was whole';
  if (statuses.length === 0) return null;
  // The rules only detect here: where a test wants a refusal, they must have asked for it.
  const isFulfilled = statuses.includes(200) || wouldBe !== 'pass';
  return isFulfilled ? null : `expected status ${statuses.join(' or ')}; fired: ${fired(matches)}`;
};

const fired = (matches: readonly RuleMatch[]): string => matches.map(({ id }) => id).join(' ');

const toLogLine = (match: RuleMatch): string =>
  `ModSecurity: Warning. Match at ${match.variable}. [file "${match.file}"] [line "${match.line}"] [id "${match.id}"]` +
  ` [msg "${match.message}"] [data "${match.data}"] [severity "${match.severity}"] ${match.tags.map((tag) => `[tag "${tag}"]`).join(' ')}`;
