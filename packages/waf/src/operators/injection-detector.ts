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
  /** Both questions in one call, which costs little more than one of them. */
  detect(
    sqliValues: readonly ByteRange[],
    xssValues: readonly ByteRange[],
  ): { sqli: (string | null)[]; xss: boolean[] };
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

type Kind = 'sqli' | 'xss';
/** What libddwaf is asked about: texts, which value each belongs to, and what was found in each value. */
type Texts = { readonly texts: string[]; readonly owners: number[]; readonly found: (string | null)[] };

const rule = (id: string, operator: string): object => ({
  id,
  name: id,
  tags: { type: id, category: 'attack_attempt' },
  conditions: [{ operator, parameters: { inputs: [{ address: id }] } }],
  transformers: [],
  on_match: [],
});

const wideTexts = 32;
const wideAddress = (address: Kind, slot: number): string => `${address}${slot}`;

interface WideEvent {
  readonly rule: { readonly id: string };
  readonly rule_matches: [{ parameters: [EventParameter] }];
}

const createWide = (DDWAF: (typeof NativeAppsec)['DDWAF']): InstanceType<(typeof NativeAppsec)['DDWAF']> => {
  const slots = Array.from({ length: wideTexts }, (_, slot) => slot);
  const rules = slots.flatMap((slot) => [
    rule(wideAddress('sqli', slot), 'is_sqli'),
    rule(wideAddress('xss', slot), 'is_xss'),
  ]);
  const instance = new DDWAF({ version: '2.2', metadata: { rules_version: '1' }, rules }, 'injection-wide');
  if (instance.knownAddresses.size !== rules.length)
    throw new Error('libddwaf refused the rules for many texts at once');
  return instance;
};

const createDetector = ({ DDWAF }: typeof NativeAppsec): InjectionDetector => {
  const ddwaf = new DDWAF(
    { version: '2.2', metadata: { rules_version: '1' }, rules: [rule('sqli', 'is_sqli'), rule('xss', 'is_xss')] },
    'injection',
  );
  if (ddwaf.knownAddresses.size !== 2) throw new Error('libddwaf refused the rules for is_sqli and is_xss');

  const run = (addresses: Record<string, readonly string[]>, instance = ddwaf) => {
    const context = instance.createContext();
    try {
      return context.run({ persistent: addresses }, timeoutMicroseconds);
    } finally {
      context.dispose();
    }
  };

  const firstMatch = (address: Kind, texts: readonly string[]): Match | null => {
    const result = run({ [address]: texts });
    if (result.timeout || result.errorCode !== undefined) return { index: 0, fingerprint: noVerdict };
    if (result.status !== 'match') return null;
    const event = result.events?.[0] as { rule_matches: [{ parameters: [EventParameter] }] } | undefined;
    const parameter = event?.rule_matches[0].parameters[0];
    return { index: Number(parameter?.key_path[0] ?? 0), fingerprint: parameter?.highlight[0] || noVerdict };
  };

  /** One rule and address for each of some texts, of which a single call then finds all that match. */
  let wide: InstanceType<typeof DDWAF> | undefined;

  /** Sets found[owner] for every text from `from` on that matches, many to a call. */
  const scanAll = (address: Kind, { texts, owners, found }: Texts, from: number): void => {
    wide ??= createWide(DDWAF);
    for (let at = from; at < texts.length; at += wideTexts) {
      const chunk = texts.slice(at, at + wideTexts);
      const result = run(Object.fromEntries(chunk.map((text, slot) => [wideAddress(address, slot), [text]])), wide);
      const isUndecided = result.timeout || result.errorCode !== undefined;
      if (isUndecided) for (const [slot] of chunk.entries()) found[owners[at + slot]!] ??= noVerdict;
      for (const event of (result.events ?? []) as WideEvent[]) {
        const slot = Number(event.rule.id.slice(address.length));
        found[owners[at + slot]!] ??= event.rule_matches[0].parameters[0].highlight[0] || noVerdict;
      }
    }
  };

  /** Sets found[owner] for every text that matches. A call tells the first match only: after a few, all are asked for at once. */
  const scan = (address: Kind, asked: Texts): void => {
    const { texts, owners, found } = asked;
    let matches = 0;
    for (let at = 0; at < texts.length; ) {
      if (matches === 3) {
        scanAll(address, asked, at);
        return;
      }
      const match = firstMatch(address, texts.slice(at, at + mostTexts));
      if (!match) {
        at += mostTexts;
        continue;
      }
      matches++;
      found[owners[at + match.index]!] ??= match.fingerprint;
      at += match.index + 1;
    }
  };

  const readTexts = (address: Kind, values: readonly ByteRange[]): Texts => {
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
    return { texts, owners, found: values.map((): string | null => null) };
  };

  /** True when one call says that nothing is in any of the texts, which is what it says of nearly every request. */
  const isClean = (sqli: Texts, xss: Texts): boolean => {
    if (sqli.texts.length > mostTexts || xss.texts.length > mostTexts) return false;
    const result = run({
      ...(sqli.texts.length > 0 ? { sqli: sqli.texts } : {}),
      ...(xss.texts.length > 0 ? { xss: xss.texts } : {}),
    });
    return !result.timeout && result.errorCode === undefined && result.status !== 'match';
  };

  const finish = (address: Kind, { texts, owners, found }: Texts): (string | null)[] => {
    for (const [index, text] of texts.entries()) {
      const owner = owners[index]!;
      if (found[owner] === null) found[owner] = address === 'sqli' ? findSqlBreakout(text) : scriptingIn(text);
    }
    return found;
  };

  const detect = (sqliValues: readonly ByteRange[], xssValues: readonly ByteRange[]) => {
    const sqli = readTexts('sqli', sqliValues);
    const xss = readTexts('xss', xssValues);
    if (sqli.texts.length + xss.texts.length > 0 && !isClean(sqli, xss)) {
      scan('sqli', sqli);
      scan('xss', xss);
    }
    return { sqli: finish('sqli', sqli), xss: finish('xss', xss).map((fingerprint) => fingerprint !== null) };
  };

  return {
    detect,
    detectSqli: (values) => detect(values, []).sqli,
    detectXss: (values) => detect([], values).xss,
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
