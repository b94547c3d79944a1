import { createRequire } from 'node:module';
import type * as NativeAppsec from '@datadog/native-appsec';
import { IS_ALPHANUMERIC } from '../transformations/ascii.ts';
import { injectionText, shorterTexts } from './injection-text.ts';
import { OperatorError } from './operator.ts';
import { hasScriptingAttribute } from './scripting-attribute.ts';
import { findSqlBreakout } from './sql-breakout.ts';

/** A value to look at: buf[start, end). */
export interface ByteRange {
  readonly buf: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/**
 * libinjection by way of libddwaf, whose cut of it is without some fingerprints and attributes; those that CRS is
 * tested for are added here. A call costs microseconds whatever its size: hand in all values of a
 * request at once.
 */
export interface InjectionDetector {
  /** For each value libinjection's fingerprint of the SQL injection found in it, or null. */
  detectSqli(values: readonly ByteRange[]): (string | null)[];
  /** For each value whether it would run script in some HTML context. */
  detectXss(values: readonly ByteRange[]): boolean[];
}

/** Whether the value can be SQL injection at all: a lone number or word is one token, of which no fingerprint consists. */
export const canBeSqli = ({ buf, start, end }: ByteRange): boolean => {
  if (end - start < 2) return false;
  const isNumber = buf[start]! <= 0x39;
  for (let at = start; at < end; at++) {
    const byte = buf[at]!;
    if (byte !== 0x5f && IS_ALPHANUMERIC[byte] === 0) return true;
    if (isNumber && byte > 0x39) return true;
  }
  return false;
};

/** Whether the value can be XSS at all: libinjection answers to tags, which need `<`, and attribute values, which need `=`. */
export const canBeXss = ({ buf, start, end }: ByteRange): boolean => {
  for (let at = start; at < end; at++) if (buf[at] === 0x3c || buf[at] === 0x3d) return true;
  return false;
};

interface Match {
  index: number;
  fingerprint: string;
}

interface EventParameter {
  key_path: (string | number)[];
  highlight: string[];
}

const scriptingIn = (text: string): string | null => (hasScriptingAttribute(text) ? 'attribute' : null);

/** libddwaf looks at no more than 256 members of a container. */
const mostTexts = 200;
const timeoutMicroseconds = 5_000_000;
/** What a value counts as when libddwaf gave no verdict: it must not pass for that. */
const noVerdict = 'undecided';

const rule = (id: string, operator: string): object => ({
  id,
  name: id,
  tags: { type: id, category: 'attack_attempt' },
  conditions: [{ operator, parameters: { inputs: [{ address: id }] } }],
  transformers: [],
  on_match: [],
});

const createDetector = ({ DDWAF }: typeof NativeAppsec): InjectionDetector => {
  const ddwaf = new DDWAF(
    { version: '2.2', metadata: { rules_version: '1' }, rules: [rule('sqli', 'is_sqli'), rule('xss', 'is_xss')] },
    'injection',
  );
  if (ddwaf.knownAddresses.size !== 2) throw new Error('libddwaf refused the rules for is_sqli and is_xss');

  const firstMatch = (address: 'sqli' | 'xss', texts: readonly string[]): Match | null => {
    const context = ddwaf.createContext();
    try {
      const result = context.run({ persistent: { [address]: texts } }, timeoutMicroseconds);
      if (result.timeout || result.errorCode !== undefined) return { index: 0, fingerprint: noVerdict };
      if (result.status !== 'match') return null;
      const event = result.events?.[0] as { rule_matches: [{ parameters: [EventParameter] }] } | undefined;
      const parameter = event?.rule_matches[0].parameters[0];
      return { index: Number(parameter?.key_path[0] ?? 0), fingerprint: parameter?.highlight[0] || noVerdict };
    } finally {
      context.dispose();
    }
  };

  /** Sets found[owner] for every text that matches; after the third match the rest go one by one, which stays linear. */
  const scan = (address: 'sqli' | 'xss', texts: string[], owners: number[], found: (string | null)[]): void => {
    let matches = 0;
    for (let at = 0; at < texts.length; ) {
      const step = matches < 3 ? mostTexts : 1;
      const chunk = texts.slice(at, at + step);
      const match = firstMatch(address, chunk);
      if (!match) {
        at += step;
        continue;
      }
      matches++;
      found[owners[at + match.index]!] ??= match.fingerprint;
      at += match.index + 1;
    }
  };

  const detect = (address: 'sqli' | 'xss', values: readonly ByteRange[]): (string | null)[] => {
    const found = values.map((): string | null => null);
    const texts: string[] = [];
    const owners: number[] = [];
    for (const [index, value] of values.entries()) {
      if (!(address === 'sqli' ? canBeSqli(value) : canBeXss(value))) continue;
      const language = address === 'sqli' ? 'sql' : 'html';
      for (const text of shorterTexts(injectionText(value, language), language)) {
        texts.push(text);
        owners.push(index);
      }
    }
    if (texts.length > 0) scan(address, texts, owners, found);
    for (const [index, text] of texts.entries()) {
      const owner = owners[index]!;
      if (found[owner] === null) found[owner] = address === 'sqli' ? findSqlBreakout(text) : scriptingIn(text);
    }
    return found;
  };

  return {
    detectSqli: (values) => detect('sqli', values),
    detectXss: (values) => detect('xss', values).map((fingerprint) => fingerprint !== null),
  };
};

let shared: InjectionDetector | undefined;

/** The detector of this thread, loaded at its first use. Throws OperatorError when the native module cannot be loaded. */
export const injectionDetector = (): InjectionDetector => {
  try {
    shared ??= createDetector(createRequire(import.meta.url)('@datadog/native-appsec') as typeof NativeAppsec);
  } catch (error) {
    throw new OperatorError(`detectSQLi and detectXSS need @datadog/native-appsec: ${(error as Error).message}`, {
      cause: error,
    });
  }
  return shared;
};
