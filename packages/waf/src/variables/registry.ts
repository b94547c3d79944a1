import { type SourceName, sourceId } from '../model/source.ts';
import type { Variable } from '../model/variable.ts';
import { computedVariables } from './computed.ts';
import { ruleFields } from './rule-fields.ts';

const stored = (name: string, isCollection: boolean, ...from: SourceName[]): Variable => ({
  kind: 'stored',
  name,
  sources: from.map(sourceId),
  isCollection,
});

const persistent = (name: string): Variable => ({ kind: 'persistent', name, collection: name.toLowerCase() });

const variables: readonly Variable[] = [
  stored('ARGS', true, 'queryArgument', 'bodyArgument'),
  stored('ARGS_GET', true, 'queryArgument'),
  stored('ARGS_POST', true, 'bodyArgument'),
  stored('ARGS_NAMES', true, 'queryArgumentName', 'bodyArgumentName'),
  stored('ARGS_GET_NAMES', true, 'queryArgumentName'),
  stored('ARGS_POST_NAMES', true, 'bodyArgumentName'),
  stored('REQUEST_HEADERS', true, 'requestHeader'),
  stored('REQUEST_HEADERS_NAMES', true, 'requestHeaderName'),
  stored('REQUEST_COOKIES', true, 'cookie'),
  stored('REQUEST_COOKIES_NAMES', true, 'cookieName'),
  stored('FILES', true, 'file'),
  stored('FILES_NAMES', true, 'fileName'),
  stored('FILES_SIZES', true, 'fileSize'),
  stored('FILES_TMP_CONTENT', true, 'fileContent'),
  stored('MULTIPART_FILENAME', true, 'multipartFilename'),
  stored('MULTIPART_NAME', true, 'multipartName'),
  stored('MULTIPART_PART_HEADERS', true, 'multipartPartHeader'),
  stored('XML', true, 'xmlText', 'xmlAttribute'),
  stored('REQUEST_METHOD', false, 'requestMethod'),
  stored('REQUEST_PROTOCOL', false, 'requestProtocol'),
  stored('REQUEST_URI', false, 'requestUri'),
  stored('REQUEST_URI_RAW', false, 'requestUriRaw'),
  stored('REQUEST_LINE', false, 'requestLine'),
  stored('REQUEST_FILENAME', false, 'requestFilename'),
  stored('REQUEST_BASENAME', false, 'requestBasename'),
  stored('QUERY_STRING', false, 'queryString'),
  stored('REQUEST_BODY', false, 'requestBody'),
  stored('RESPONSE_HEADERS', true, 'responseHeader'),
  stored('RESPONSE_HEADERS_NAMES', true, 'responseHeaderName'),
  stored('RESPONSE_BODY', false, 'responseBody'),
  stored('RESPONSE_PROTOCOL', false, 'responseProtocol'),
  stored('STATUS_LINE', false, 'statusLine'),
  { kind: 'tx', name: 'TX' },
  persistent('IP'),
  persistent('GLOBAL'),
  persistent('SESSION'),
  persistent('USER'),
  persistent('RESOURCE'),
  { kind: 'table', name: 'GEO', read: (tx) => Object.entries(tx.geo) },
  { kind: 'table', name: 'ENV', read: (tx) => tx.environment },
  { kind: 'table', name: 'RULE', read: ruleFields },
  { kind: 'table', name: 'MATCHED_VARS', read: (tx) => tx.matchedVars },
  { kind: 'table', name: 'MATCHED_VARS_NAMES', read: (tx) => tx.matchedVars.map(([name]) => [name, name] as const) },
  ...Object.entries(computedVariables).map(([name, read]): Variable => ({ kind: 'computed', name, read })),
];

const byName = new Map(variables.map((variable) => [variable.name, variable]));

/** Why a variable of ModSecurity's reference is refused. */
export const refusedVariables: ReadonlyMap<string, string> = new Map([
  ['FILES_TMPNAMES', 'uploads are never written to disk, so there are no temporary names; use FILES_TMP_CONTENT'],
  ['PERF_ALL', 'the engine has no per-phase timers; the verdict carries the time and work spent'],
  ['PERF_COMBINED', 'the engine has no per-phase timers; the verdict carries the time and work spent'],
  ['SCRIPT_BASENAME', 'a reverse proxy serves no files'],
  ['SCRIPT_FILENAME', 'a reverse proxy serves no files'],
  ['SCRIPT_GID', 'a reverse proxy serves no files'],
  ['SCRIPT_GROUPNAME', 'a reverse proxy serves no files'],
  ['SCRIPT_MODE', 'a reverse proxy serves no files'],
  ['SCRIPT_UID', 'a reverse proxy serves no files'],
  ['SCRIPT_USERNAME', 'a reverse proxy serves no files'],
  ['SDBM_DELETE_ERROR', 'persistent collections are not kept in SDBM files'],
  ['STREAM_INPUT_BODY', 'bodies are not rewritten; use REQUEST_BODY'],
  ['STREAM_OUTPUT_BODY', 'bodies are not rewritten; use RESPONSE_BODY'],
  ['RESOLVED_HOST', 'the engine makes no DNS look-ups'],
]);

/** The variable of that upper-case name, or undefined. */
export const variableNamed = (name: string): Variable | undefined => byName.get(name);

export const variableNames = (): readonly string[] => [...byName.keys()];
