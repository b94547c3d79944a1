import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseConfig } from '@sallyport/deployment/config';
import { proxyDirectory, spoeFile } from '@sallyport/deployment/places';
import { writeStaticFiles } from '@sallyport/haproxy';
import { afterAll, expect, test } from 'vitest';
import { toProxySettings } from './proxy-settings.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-deployment-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

test.each([
  ['', '500ms'],
  ['250ms', '125ms'],
  ['60s', '30000ms'],
])(
  'with SALLYPORT_GUARD_TIMEOUT=%s HAProxy waits %s, half of it, for the verdict of one guard',
  async (setting, expected) => {
    const config = parseConfig({ SALLYPORT_DATA_DIR: dataDir, SALLYPORT_GUARD_TIMEOUT: setting }, '/');
    await writeStaticFiles(proxyDirectory(dataDir), toProxySettings(config));
    expect(readFileSync(spoeFile(dataDir), 'utf8')).toContain(`timeout processing ${expected}\n`);
  },
);
