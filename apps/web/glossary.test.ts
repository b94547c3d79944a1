import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What the German screens and pages of the guide call a thing, by its English word, and what nobody calls it there. */
const GLOSSARY: readonly (readonly [english: string, german: string, never: RegExp])[] = [
  ['access list', 'Zugriffsliste', /Erlaubnisliste|Zugangsliste/],
  ['audit trail', 'Prüfprotokoll', /(?<!Sec)Audit-?(?:Log|Trail|Protokoll)/],
  ['backup', 'Backup', /Datensicherung|Sicherungskopie|Sicherungsdatei/],
  ['ban', 'Sperre', /Bann(?!er)|gebannt/],
  ['certificate authority', 'Zertifizierungsstelle', /Zertifikatsstelle|Zertifikatsaussteller/],
  ['default', 'Vorgabe', /Voreinstellung|Vorgabewert|Standardwert|Standardeinstellung/],
  ['exclusion', 'Ausnahme', /Ausschluss|Ausschlüsse/],
  ['guide', 'Handbuch', /Leitfaden|Anleitungsseite/],
  ['history', 'Verlauf', /Historie|Änderungsverlauf/],
  ['origin', 'Ursprung', /Ursprungsserver|Zielserver|Backend-?Server/],
  ['password', 'Passwort', /Kennw[oö]rt/],
  ['refused request', 'Abweisung', /Blockierung|blockierte Anfrage/],
  ['rule set', 'Regelsatz', /Regelwerk/],
  ['user', 'Benutzer', /(?<!Be|be)Nutzer(?!daten)|Anwender(?!in)/],
];

/** The same of the English ones, where programs call a thing otherwise: the API's, and CrowdSec's, name of a ban is decision. */
const ENGLISH: readonly (readonly [word: string, never: RegExp])[] = [
  // By name of a field, path or command they may; so may pages of docs/decisions, and who decides.
  ['ban', /\bdecisions?\b(?! for each name)/i],
  ['rule set', /\bruleset/i],
  ['audit trail', /\baudit log/i],
  ['refused request', /\bblocked request/i],
];

const filesOf = (directory: string, isOne: (name: string) => boolean): string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter(isOne)
    .map((name) => join(directory, name));

const FILES = [
  ...filesOf('apps/web/src', (name) => /\.de\.ts$/.test(name)),
  ...filesOf('docs/guide/de', (name) => name.endsWith('.md')),
];
const ENGLISH_FILES = [
  ...filesOf('apps/web/src', (name) => /\.en\.ts$/.test(name)),
  ...filesOf('docs/guide', (name) => name.endsWith('.md') && !name.startsWith('de/')),
];

/** What people read of a line: no code, no target of a link, no key of a text. */
const proseOf = (line: string): string =>
  line
    .replaceAll(/`[^`]*`|\[[^\]]*\]\([^)]*\/decisions\/[^)]*\)|\]\([^)]*\)/g, '')
    .replace(/^\s*(?:import|export|\}|\w+(?:, \w+)*,?$).*|^\s*\w+: ?(?=')/, '');

const linesWith = (files: readonly string[], never: RegExp, shown: (line: string) => string): string[] =>
  files.flatMap((file) =>
    readFileSync(join(ROOT, file), 'utf8')
      .split('\n')
      .flatMap((line, index) => (never.test(shown(line)) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );

test.each(ENGLISH)('“%s” is called nothing else on English screens and in the guide', (_word, never) => {
  expect(linesWith(ENGLISH_FILES, never, proseOf)).toEqual([]);
});

test.each(GLOSSARY)(
  '“%s” is “%s” on German screens and in the German guide, and nothing else',
  (_english, german, never) => {
    expect(FILES.some((file) => readFileSync(join(ROOT, file), 'utf8').includes(german))).toBe(true);
    expect(linesWith(FILES, never, (line) => line)).toEqual([]);
  },
);
