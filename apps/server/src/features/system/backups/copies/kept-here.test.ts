import { expect, test } from 'vitest';
import { noticeOfChange, readCopyRules, reasonToStay, whyNothingIsCopied } from './kept-here.ts';

const reading = (settings: Record<string, string>) => async (key: string) => settings[key] ?? '';
const URL_ = 'https://kept.example.com/bucket';

test('what the settings say of copies', async () => {
  expect(await readCopyRules(reading({}))).toEqual({ to: '', isEncrypting: false, copyUnencrypted: false });
  const all = { 'backup.copy_url': URL_, 'backup.passphrase': 'x', 'backup.copy_unencrypted': 'true' };
  expect(await readCopyRules(reading(all))).toEqual({ to: URL_, isEncrypting: true, copyUnencrypted: true });
  const sealed = async (key: string) => {
    if (key === 'backup.passphrase') throw new Error('sealed with another key');
    return 'false';
  };
  expect(await readCopyRules(sealed)).toEqual({ to: 'false', isEncrypting: false, copyUnencrypted: false });
});

const rules = (to: string, copyUnencrypted: boolean) => ({ to, copyUnencrypted, isEncrypting: false });
const [plain, locked] = [
  { kind: 'scheduled', encrypted: false },
  { kind: 'scheduled', encrypted: true },
] as const;

test('nothing leaves this machine in the clear unless that was asked for, and what was uploaded never does', () => {
  expect(reasonToStay({ kind: 'uploaded', encrypted: true }, rules(URL_, true))).toBe('it was uploaded');
  for (const copyUnencrypted of [true, false]) expect(reasonToStay(locked, rules(URL_, copyUnencrypted))).toBe('');
  expect(reasonToStay(plain, rules(URL_, false))).toMatch(/^it is not encrypted: .*backup\.passphrase/);
  expect(reasonToStay(plain, rules(URL_, true))).toBe('');
  expect(reasonToStay(plain, rules('http://kept.example.com/bucket', true))).toBe(
    'it is not encrypted, and http:// does not encrypt it either',
  );
  expect(reasonToStay(locked, rules('http://kept.example.com/bucket', true))).toBe('');
});

test('who set a place for copies is told when nothing goes there', async () => {
  const UNENCRYPTED =
    'Scheduled and automatic backups are not copied, because they are not encrypted. Set backup.passphrase.';
  expect(whyNothingIsCopied(rules('', false))).toBe('');
  expect(whyNothingIsCopied(rules(URL_, false))).toBe(UNENCRYPTED);
  expect(whyNothingIsCopied(rules(URL_, true))).toBe('');
  expect(whyNothingIsCopied({ ...rules(URL_, false), isEncrypting: true })).toBe('');
  expect(whyNothingIsCopied(rules('http://kept.example.com/bucket', true))).toContain('http:// does not encrypt them');
  const read = reading({ 'backup.copy_url': URL_ });
  expect(await noticeOfChange('smtp.host', true, read)).toBe('');
  expect(await noticeOfChange('backup.keep', true, read)).toBe(UNENCRYPTED);
  expect(await noticeOfChange('backup.passphrase', false, read)).toBe(UNENCRYPTED);
  expect(await noticeOfChange('backup.passphrase', true, read)).toMatch(
    /^What was encrypted before.* that one\. Scheduled/,
  );
  expect(await noticeOfChange('backup.passphrase', true, reading({}))).toMatch(
    /^What was encrypted before.* that one\.$/,
  );
});
