import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createReceipts } from '@sallyport/backup/shelf/receipts';
import { createShelf } from '@sallyport/backup/shelf/shelf';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../../../../test/support/until.ts';
import { createCopier } from './copier.ts';

const named = (kind: string, n: number) => `sallyport-20260101-00000${n}-${kind}-abcdef.backup`;

test('what is there already, or stays here, is looked at once, and again when the settings say something else', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-test-'));
  onTestFinished(() => rmSync(dataDir, { recursive: true }));
  const shelf = createShelf(dataDir);
  const receipts = createReceipts(dataDir);
  const copied = named('manual', 1);
  await receipts.write({ name: copied, to: 'http://192.0.2.1/kept', copied_at: '2026-01-01T00:00:00.000Z' });
  const add = (name: string) => writeFileSync(join(dataDir, 'backups', name), 'not encrypted');
  const [plain, uploaded, later] = [named('manual', 2), named('uploaded', 3), named('manual', 4)];
  for (const name of [copied, plain, uploaded]) add(name);
  const asked: string[][] = [];
  const settings = new Map([['backup.copy_url', 'http://192.0.2.1/kept']]);
  const copier = createCopier({
    shelf: {
      ...shelf,
      findAll(names) {
        asked.push([...names].sort());
        return shelf.findAll(names);
      },
    },
    receipts,
    read: async (key) => settings.get(key) ?? '',
    tell: () => {},
    failed: () => {},
    clock: () => new Date(),
    log: pino({ level: 'silent' }),
  });
  const nextLook = async () => {
    const before = asked.length;
    copier.made();
    return until('it has looked', () => asked[before]);
  };
  expect(await nextLook()).toEqual([plain, uploaded]);
  expect(await nextLook()).toEqual([]);
  add(later);
  expect(await nextLook()).toEqual([later]);
  settings.set('backup.copy_unencrypted', 'true');
  expect(await nextLook()).toEqual([plain, uploaded, later].sort());
  expect(await nextLook()).toEqual([]);
});
