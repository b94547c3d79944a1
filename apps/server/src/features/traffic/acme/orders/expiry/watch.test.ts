import type { NotificationEvent, UploadedCertificate } from '@sallyport/contract';
import { openDatabase } from '@sallyport/store/database/open';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { makeCertificate, uploadForm } from '../../../../../../../../test/support/certificates.ts';
import { onBothDatabases, startApp } from '../../../../../testing/start-app.ts';
import { expiryStore } from './store.ts';
import { createExpiryWatch } from './watch.ts';

const DAY_MS = 86_400_000;

onBothDatabases('the expiry of certificates', (kind) => {
  test('is told at each of its moments once, by whichever node or process looks, and is in the metrics', async () => {
    const app = await startApp(kind);
    const database = openDatabase(app.config);
    try {
      const pair = makeCertificate(['old.example.com'], { days: 90 });
      const { body } = await app.send<UploadedCertificate>('POST', '/certificates/upload', uploadForm('Old', pair));
      await app.send(
        'POST',
        '/certificates/upload',
        uploadForm('New', makeCertificate(['new.example.com'], { days: 900 })),
      );
      const told: NotificationEvent[] = [];
      const start = Date.now();
      let now = start;
      const watching = () =>
        createExpiryWatch({
          store: expiryStore(database.kysely),
          tell: (event) => void told.push(event),
          clock: () => new Date(now),
          log: pino({ level: 'silent' }),
        });
      for (const day of [1, 60, 77, 78, 84, 85, 88, 89.5, 91, 92]) {
        now = start + day * DAY_MS;
        await watching().look();
        await Promise.all([watching().look(), watching().look()]);
      }
      expect(told.map(({ message, severity }) => [severity, message])).toEqual([
        ['warn', expect.stringMatching(/^The certificate Old expires in 1[23] days; nobody renews it$/)],
        ['warn', expect.stringMatching(/^The certificate Old expires in [56] days/)],
        ['warn', expect.stringMatching(/^The certificate Old expires in (?:2 days|4[0-7] hours)/)],
        ['error', expect.stringMatching(/^The certificate Old expires in 1[0-2] hours/)],
        ['error', expect.stringMatching(/^The certificate Old has expired/)],
      ]);
      expect(told[0]?.details).toMatchObject({ certificate: body.uuid, names: 'old.example.com' });

      const metrics = await (await fetch(`${app.url}/metrics`)).text();
      const [, left] = /^sallyport_certificate_expiry_seconds\{id="\d+",name="Old"\} (\d+)/m.exec(metrics) ?? [];
      expect(Number(left) / 86_400).toBeCloseTo(90, 0);
    } finally {
      await database.stop();
      await app.stop();
    }
  });
});
