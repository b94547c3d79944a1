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

const filesOf = (directory: string, isOne: (name: string) => boolean): string[] =>
  readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' })
    .filter(isOne)
    .map((name) => join(directory, name));

const FILES = [
  ...filesOf('apps/web/src', (name) => /\.de\.ts$/.test(name)),
  ...filesOf('docs/guide/de', (name) => name.endsWith('.md')),
];

test.each(GLOSSARY)(
  '“%s” is “%s” on German screens and in the German guide, and nothing else',
  (_english, german, never) => {
    const texts = FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
    expect(texts.some(([, text]) => text.includes(german))).toBe(true);
    const found = texts.flatMap(([file, text]) =>
      text.split('\n').flatMap((line, index) => (never.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
    );
    expect(found).toEqual([]);
  },
);
