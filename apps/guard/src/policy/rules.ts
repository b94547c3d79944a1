import { globSync, readFileSync } from 'node:fs';
import type { GuardConfig } from '@sallyport/contract';
import {
  baselineRules,
  type CompileEnv,
  compile,
  type Diagnostic,
  formatDiagnostic,
  ownRules,
  type RuleSet,
  type RuleSource,
} from '@sallyport/waf';

type Sources = GuardConfig['waf']['rule_sources'];

/** Rules that can't be compiled; `diagnostics` says where and why. */
export class InvalidRules extends Error {
  override name = 'InvalidRules';
  readonly diagnostics: readonly string[];
  constructor(diagnostics: readonly Diagnostic[]) {
    const errors = diagnostics.filter(({ severity }) => severity === 'error').map(formatDiagnostic);
    super(`the rules can't be compiled: ${errors[0] ?? 'no reason given'}`);
    this.diagnostics = errors.slice(0, 100);
  }
}

const read = (source: Sources[number]): RuleSource =>
  source.kind === 'text'
    ? { path: source.path, text: Buffer.from(source.text, 'utf8') }
    : { path: source.path, text: readFileSync(source.path) };

const environment: CompileEnv = {
  readFile: (path) => readFileSync(path),
  glob: (pattern) => globSync(pattern).sort(),
};

/**
 * Compiles the configured rules behind the baseline, which has bodies inspected and parsed. Takes about half a second
 * for the Core Rule Set. Throws InvalidRules.
 */
export const compileRules = (sources: Sources, geo?: CompileEnv['geo']): RuleSet => {
  const { ruleSet, diagnostics } = compile(
    [baselineRules, ownRules, ...sources.map(read)],
    geo ? { ...environment, geo } : environment,
  );
  if (!ruleSet) throw new InvalidRules(diagnostics);
  warmUp(ruleSet);
  return ruleSet;
};

const WARM_UP_ROUNDS = 30;

/** Automata are built and code is compiled by use: the first requests must not wait for that. */
const warmUp = (ruleSet: RuleSet): void => {
  const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
  const request = (uri: string, type: string, body: string): void => {
    const headers: (readonly [string, string])[] = [
      ['Host', 'warm.up.invalid'],
      [
        'User-Agent',
        'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36',
      ],
      ['Accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'],
      ['Accept-Language', 'en-US,en;q=0.9'],
      ['Accept-Encoding', 'gzip, deflate, br'],
      ['Cookie', 'session=9f8a7c6d5e4b3a2f; theme=dark'],
      ...(body === ''
        ? []
        : ([
            ['Content-Type', type],
            ['Content-Length', String(body.length)],
          ] as const)),
    ];
    ruleSet.inspect({
      method: bytes(body === '' ? 'GET' : 'POST'),
      uri: bytes(uri),
      httpVersion: bytes('HTTP/1.1'),
      headers: headers.map(([name, value]) => [bytes(name), bytes(value)]),
      body: body === '' ? null : bytes(body),
      clientAddress: '192.0.2.1',
      clientPort: 1,
      serverAddress: '192.0.2.2',
      serverPort: 80,
      uniqueId: 'warm-up',
      now: Date.now(),
    });
  };
  for (let i = 0; i < WARM_UP_ROUNDS; i++) {
    request(`/a/b${i}.html?q=some+words+${i}&page=${i}`, '', '');
    request('/form', 'application/x-www-form-urlencoded', `name=Jane+Doe${i}&text=Hello%2C+how+is+order+${i}%3F`);
    request('/json', 'application/json', `{"name":"Jane ${i}","items":[{"id":${i},"note":"leave at the door ${i}"}]}`);
  }
};
