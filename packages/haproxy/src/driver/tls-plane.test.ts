import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type AnsweringSocket, answerAt } from '../../../../test/support/haproxy/answering-socket.ts';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { certificateFile, dataPlaneFiles } from '../config/layout.ts';
import { createSelfSignedCertificate } from '../files/self-signed-certificate.ts';
import { createAdminSocket } from '../runtime/admin-socket.ts';
import { createCertificateCommands } from '../runtime/certificates.ts';
import { createTlsPlane } from './tls-plane.ts';

const made = await createSelfSignedCertificate({ names: ['a.test'], validFrom: new Date(), validDays: 9 });
const certificate = { id: 1, pem: made.certificate + made.key, names: ['a.test'], notAfter: 0 };
const put = { type: 'put', certificate } as const;
const nobody = () => [];
const now = <T>(task: () => Promise<T>): Promise<T> => task();

/** Certificates of a HAProxy that answers as `answers` says, by how a command begins. */
const withAnswers = (
  answers: Readonly<Record<string, string>>,
  work: (tls: ReturnType<typeof createTlsPlane>, haproxy: AnsweringSocket, directory: string) => Promise<void>,
  maxPemBytes = 15_000,
): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const path = join(directory, 'admin.sock');
    const answerTo = (command: string) => Object.entries(answers).find(([begin]) => command.startsWith(begin))?.[1];
    const haproxy = await answerAt(path, (command) => answerTo(command) ?? '\n');
    const commands = createCertificateCommands(createAdminSocket({ path }), dataPlaneFiles.crtList);
    try {
      await work(createTlsPlane({ directory, commands, maxPemBytes }), haproxy, directory);
    } finally {
      await haproxy.stop();
    }
  });

const changing = (haproxy: AnsweringSocket): string[] =>
  haproxy.asked.filter((command) => !command.startsWith('show ')).map((command) => command.split('\n')[0] ?? '');

const header = '# tls/crt-list.txt\n';

test('lines of the list that have no names are removed, but for that of the default certificate', () =>
  withAnswers(
    {
      'show ssl crt-list': `${header}${dataPlaneFiles.defaultCertificate}:1\n${certificateFile(5)}:2\n${dataPlaneFiles.defaultCertificate}:3 b.test\n\n`,
      'del ssl crt-list': "Entry 'x' deleted in crtlist 'y'!\n",
    },
    async (tls, haproxy) => {
      expect(await tls.syncLines(nobody)).toBe(2);
      expect(changing(haproxy)).toEqual([
        `del ssl crt-list tls/crt-list.txt ${certificateFile(5)}:2`,
        `del ssl crt-list tls/crt-list.txt ${dataPlaneFiles.defaultCertificate}:3`,
      ]);
    },
  ));

const empty = {
  'show ssl crt-list': `${header}${dataPlaneFiles.defaultCertificate}:1\n\n`,
  'show ssl cert': '# filename\n\n',
  'add ssl crt-list': 'Success!\n',
};
const how = { live: async (task: () => Promise<unknown>) => void (await task()), exclusively: now };

test('a certificate that HAProxy does not take is refused, and its file is not written', () =>
  withAnswers(
    { ...empty, 'new ssl cert': 'New empty certificate store!\n', 'set ssl cert': 'unable to load\n' },
    async (tls, haproxy, directory) => {
      await tls.change([put], nobody, how);
      expect([...tls.refused]).toEqual([[1, 'HAProxy refused it: unable to load']]);
      expect(tls.ids()).toEqual([]);
      expect(existsSync(join(directory, certificateFile(1)))).toBe(false);
      expect(changing(haproxy).slice(-2)).toEqual([
        `abort ssl cert ${certificateFile(1)}`,
        `del ssl cert ${certificateFile(1)}`,
      ]);
      await tls.change([{ type: 'remove', id: 1 }], nobody, how);
      expect(tls.refused.size).toBe(0);
    },
  ));

test('a certificate that HAProxy takes, but refuses to name in its list, is left out, and is no difference', () =>
  withAnswers({ ...empty, 'add ssl crt-list': 'unable to load\n' }, async (tls, _haproxy, directory) => {
    await tls.change([put], nobody, { ...how, live: async () => {} });
    expect(tls.ids()).toEqual([1]);
    expect(await tls.syncLines(nobody)).toBe(0);
    expect([...tls.refused]).toEqual([[1, 'HAProxy refused it: unable to load']]);
    expect(tls.ids()).toEqual([]);
    expect(readFileSync(join(directory, dataPlaneFiles.crtList), 'utf8')).toBe(
      `${dataPlaneFiles.defaultCertificate}\n`,
    );
  }));

test('no certificate that is served is left out because HAProxy refuses another line of it', () =>
  withAnswers(
    {
      ...empty,
      'show ssl crt-list': `${header}${dataPlaneFiles.defaultCertificate}:1\n${certificateFile(1)}:2 b.test\n\n`,
      'add ssl crt-list': 'out of memory\n',
    },
    async (tls) => {
      await tls.change([put], nobody, { ...how, live: async () => {} });
      await expect(tls.syncLines(nobody)).rejects.toThrow('out of memory');
      expect(tls.ids()).toEqual([1]);
      expect(tls.refused.size).toBe(0);
    },
  ));

test('a certificate that is larger than HAProxy could be given is refused', () =>
  withAnswers(
    empty,
    async (tls) => {
      await tls.change([put], nobody, how);
      expect([...tls.refused]).toEqual([[1, 'certificate, chain and key are larger than 100 bytes']]);
    },
    100,
  ));

const taken = {
  'new ssl cert': 'New empty certificate store!\n',
  'set ssl cert': 'Transaction created for\n',
  'commit ssl cert': 'Success!\n',
};

test('a certificate that is there as it should be is not taken again', () =>
  withAnswers({ ...empty, ...taken }, async (tls, haproxy, directory) => {
    await tls.change([put, put], nobody, how);
    expect(changing(haproxy).filter((command) => command.startsWith('set'))).toHaveLength(1);
    const file = join(directory, certificateFile(1));
    const { ino } = statSync(file);
    expect(await tls.intend([certificate], [])).toEqual([]);
    await tls.change([put], nobody, how);
    expect(statSync(file).ino).toBe(ino);
  }));

test('files and stores of certificates that nobody holds any more are removed, and nothing else', () =>
  withAnswers(
    {
      ...empty,
      ...taken,
      'show ssl cert': `# filename\n*${certificateFile(7)}\n${certificateFile(8)}\n${certificateFile(1)}\n${dataPlaneFiles.defaultCertificate}\n/elsewhere/9.pem\n\n`,
      'del ssl cert': "Certificate 'x' deleted!\n",
    },
    async (tls, haproxy, directory) => {
      const folder = join(directory, dataPlaneFiles.certificateDirectory);
      mkdirSync(folder, { recursive: true });
      for (const name of ['1.pem', '8.pem', 'default.pem', 'notes.txt']) writeFileSync(join(folder, name), '');
      await tls.change([put], nobody, how);
      expect(readdirSync(folder).toSorted()).toEqual(['1.pem', 'default.pem', 'notes.txt']);
      expect(changing(haproxy).filter((command) => command.startsWith('del'))).toEqual([
        `del ssl cert ${certificateFile(8)}`,
      ]);
    },
  ));
