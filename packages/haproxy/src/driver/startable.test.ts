import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { weakCertificate } from '../../../../test/support/haproxy/weak-certificate.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { dataPlaneFiles } from '../config/layout.ts';
import { defaultSettings } from '../config/settings.ts';
import { createSelfSignedCertificate } from '../files/self-signed-certificate.ts';
import { checkStart } from '../files/start-check.ts';
import { writeStaticFiles } from '../files/static-files.ts';
import type { DesiredCertificate } from '../model/desired.ts';
import { createAdminSocket } from '../runtime/admin-socket.ts';
import { createCertificateCommands } from '../runtime/certificates.ts';
import { quarantineForStart } from './startable.ts';
import { createTlsPlane } from './tls-plane.ts';

const haproxy = '/usr/sbin/haproxy';
const made = await createSelfSignedCertificate({ names: ['good.test'], validFrom: new Date(), validDays: 9 });
const good = { id: 1, pem: made.certificate + made.key, names: ['good.test'], notAfter: 0 };
const weak = (id: number) => ({ id, pem: weakCertificate, names: [`weak-${id}.test`], notAfter: 0 });

/** Files of a HAProxy that does not run, with these certificates in them, untried. */
const withFiles = (
  certificates: readonly DesiredCertificate[],
  work: (given: {
    directory: string;
    config: string;
    tls: ReturnType<typeof createTlsPlane>;
    /** Leaves out what keeps it from starting; what could not be helped. */
    quarantine(program?: string): Promise<string[]>;
  }) => Promise<void>,
): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const adminSocket = join(directory, 'admin.sock');
    await writeStaticFiles(directory, {
      ...defaultSettings,
      http: [],
      https: [{ address: '127.0.0.1', port: 9 }],
      adminSocket,
    });
    const commands = createCertificateCommands(createAdminSocket({ path: adminSocket }), dataPlaneFiles.crtList);
    const tls = createTlsPlane({ directory, commands, maxPemBytes: 15_000 });
    const changes = certificates.map((certificate) => ({ type: 'put', certificate }) as const);
    await tls.change(changes, () => [], { live: async () => {}, exclusively: (task) => task() });
    await work({
      directory,
      config: join(directory, dataPlaneFiles.config),
      tls,
      async quarantine(program = haproxy) {
        const failed: string[] = [];
        const onFailed = (error: unknown) => failed.push(String(error));
        await quarantineForStart({ haproxy: program, directory, tls, onFailed }, () => []);
        return failed;
      },
    });
  });

test('certificates that keep HAProxy from starting are left out, and no others', () =>
  withFiles([weak(2), good, weak(3)], async ({ directory, tls, quarantine }) => {
    expect(await checkStart(haproxy, directory)).toEqual({
      ok: false,
      reason: expect.stringContaining('unable to load SSL certificate'),
      certificate: 2,
    });
    expect(await quarantine()).toEqual([]);
    expect(tls.ids()).toEqual([1]);
    expect([...tls.refused.keys()]).toEqual([2, 3]);
    expect(tls.refused.get(3)).toMatch(/^HAProxy refused it: .*3\.pem/);
    expect(readFileSync(join(directory, dataPlaneFiles.crtList), 'utf8')).not.toMatch(/[23]\.pem/);
    expect(readdirSync(join(directory, dataPlaneFiles.certificateDirectory)).toSorted()).toEqual([
      '1.pem',
      'default.pem',
    ]);
    expect(await checkStart(haproxy, directory)).toEqual({ ok: true });
    // Nothing is left out of what starts.
    expect(await quarantine()).toEqual([]);
    expect(tls.ids()).toEqual([1]);
  }));

test('no certificate is left out for what is wrong elsewhere, which is told', () =>
  withFiles([good], async ({ directory, config, tls, quarantine }) => {
    const list = join(directory, dataPlaneFiles.crtList);
    // Somebody else's line: leaving out one of ours would not help.
    appendFileSync(list, 'tls/certificates/99.pem\n');
    expect(await quarantine()).toEqual([expect.stringMatching(/^Error: HAProxy would not start: .*99\.pem/)]);
    await tls.writeCrtList();
    expect(await quarantine()).toEqual([]);
    appendFileSync(config, 'no-such-word\n');
    expect(await checkStart(haproxy, directory)).toEqual({
      ok: false,
      reason: expect.stringContaining("unknown keyword 'no-such-word'"),
      certificate: undefined,
    });
    expect(await quarantine()).toEqual([expect.stringMatching(/^Error: HAProxy would not start: .*no-such-word/)]);
    expect(await quarantine('/no/such/haproxy')).toEqual([expect.stringContaining('ENOENT')]);
    expect(tls.ids()).toEqual([1]);
    expect(tls.refused.size).toBe(0);
  }));
