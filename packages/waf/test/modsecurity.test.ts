import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { type CompileEnv, compile, type RawHeader, type Verdict } from '../src/index.ts';
import { given } from './support/given.ts';

/** A checkout of owasp-modsecurity/ModSecurity, whose regression tests are run with their own rules. */
const root = process.env.SALLYPORT_MODSECURITY_DIR;
const isThere = root !== undefined && existsSync(`${root}/test/test-cases/regression`);

type Case = {
  readonly enabled: number;
  readonly resource?: string;
  readonly rules: readonly string[];
  readonly expected: { readonly http_code?: number; readonly parser_error?: string };
  readonly client?: { readonly ip?: string };
  readonly request?: {
    readonly uri?: string;
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | readonly string[];
  };
  readonly response?: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | readonly string[];
  };
};

/** Tests that go otherwise, by file and number, and why. */
const DIFFERENT: Readonly<Record<string, string>> = {
  'action-ctl_request_body_processor 0 1 2': 'XPath',
  'action-xmlns 3': 'XPath',
  'config-xml_external_entity 0 1 2': 'XPath',
  'variable-XML 0': 'XPath',
  'request-body-parser-xml 0 1 2 3 4': 'XML schemas',
  'request-body-parser-xml-validade-dtd 0 1 2 3': 'DTDs',
  'operator-inpectFile 0 1 2': '@inspectFile',
  'request-body-parser-multipart 40': 'FILES_TMPNAMES',
  'issue-2296 2 3 5 7 8': 'patterns in macros',
  'issue-2296 9': 'a rule without an id',
  'secaction 0': 'a rule without an id',
  'secmarker 0 1': 'a rule without an id',
  'collection-tx 0': 'an id within a chain',
  'variable-MATCHED_VAR_NAME 2': 'an id within a chain',
  'issue-1831 0 1': 'a quote that is never closed',
  'issue-1960 0': 'a quote that is never closed',
  'rule-920200 0': 'a quote that is never closed',
  'operator-rx 2': 'a pattern that does not compile',
  'issue-1941 3': 'a code page that the map file does not have',
  'config-body_limits 0 2 8 10 12 14': 'a body over a limit is answered at once, with 413',
  'secargumentslimit 1': 'the query and the body are counted each for itself',
  'config-secdefaultaction 5': 'a second SecDefaultAction replaces the first',
  'config-update-target-by-id 3': 'ARGS is not ARGS_NAMES',
  'request-body-parser-multipart 17': 'single quotes in Content-Disposition are refused',
  'variable-REQUEST_URI 1 2': 'an application may read the fragment',
};
const exceptions = new Set(
  Object.keys(DIFFERENT).flatMap((key) => {
    const [file, ...numbers] = key.split(' ');
    return numbers.map((number) => `${file} ${number}`);
  }),
);

const bytes = (text: string): Uint8Array => Buffer.from(text);
const bodyOf = (body: string | readonly string[] = ''): string =>
  typeof body === 'string' ? body : body.map((line) => `${line}\n`).join('');
const headersOf = (headers: Readonly<Record<string, string>> = {}): RawHeader[] =>
  Object.entries(headers).map(([name, value]) => [bytes(name), bytes(String(value))]);

/** Several of the tests end in an open chain, which ModSecurity 3 takes for a finished one. */
const rulesOf = ({ rules }: Case): string =>
  [...rules.slice(0, -1), rules.at(-1)?.replace('"chain,', '"') ?? ''].join('\n');

const run = (one: Case, env: CompileEnv): Verdict | 'refused' => {
  const { ruleSet } = compile([{ path: join(root!, 'test/rules.conf'), text: `${rulesOf(one)}\n` }], env);
  if (ruleSet === null) return 'refused';
  const { uri = '/', method = 'GET', headers, body } = one.request ?? {};
  const transaction = ruleSet.begin({
    ...given.request({ method, body: bodyOf(body), clientAddress: one.client?.ip ?? '127.0.0.1' }),
    uri: bytes(uri),
    headers: headersOf(headers),
  });
  if (transaction.requestVerdict.action !== 'pass') return transaction.end();
  const response = { status: 200, headers: headersOf(one.response?.headers), body: bytes(bodyOf(one.response?.body)) };
  return transaction.inspectResponse(response);
};

test.skipIf(!isThere)(
  `ModSecurity's regression tests${isThere ? '' : ' (none run: set SALLYPORT_MODSECURITY_DIR to a checkout)'}`,
  () => {
    const env: CompileEnv = {
      dialect: 'modsecurity3',
      readFile: (path) => readFileSync(path),
      glob: (pattern) => globSync([pattern, join(root!, 'test', pattern)]).sort(),
      blockList: () => false,
    };
    const different: string[] = [];
    let count = 0;
    for (const path of globSync(`${root}/test/test-cases/regression/**/*.json`).sort()) {
      for (const [number, one] of (JSON.parse(readFileSync(path, 'utf8')) as Case[]).entries()) {
        if (one.enabled === 0 || ['lua', 'curl', 'ssdeep'].includes(one.resource ?? '')) continue;
        count++;
        const verdict = run(one, env);
        const { http_code: status, parser_error: mistake } = one.expected;
        const isAsExpected =
          mistake !== undefined && mistake !== ''
            ? verdict === 'refused'
            : verdict !== 'refused' && (status === undefined || verdict.status === status);
        if (!isAsExpected) different.push(`${basename(path, '.json')} ${number}`);
      }
    }
    expect(count).toBeGreaterThan(600);
    expect(different.sort()).toEqual([...exceptions].sort());
  },
);
