import { startApp } from '@sallyport/server/testing/start-app';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../database/open.ts';
import { checkNetworks } from './check-networks.ts';

const CANONICAL = ['192.0.2.7', '192.0.2.0/24', '2001:db8::/32', '::ffff:192.0.2.7', '0.0.0.0/0'];
const WRONG = [
  '192.0.2.7\n',
  ' 192.0.2.7',
  '192.0.2.7 ok',
  '192.0.2.999',
  '192.0.2.0/33',
  '2001:db8::/129',
  'fe80::1%lo',
  '',
  '#',
  '/8',
  'x',
];

test('what HAProxy is told in maps is networks, and nothing that would be another line', async () => {
  const app = await startApp('sqlite');
  onTestFinished(() => app.stop());
  await app.send('POST', '/security/decisions', { ip: '192.0.2.1', action: 'block' });
  await app.send('POST', '/security/config', { admin_whitelist: '' });
  const database = openDatabase(app.config);
  onTestFinished(() => database.stop());
  const { kysely: db } = database;
  const set = (table: string, column: string, value: string) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${value}`.execute(db);
  const verdictOf = (column: string): Promise<string> =>
    checkNetworks(db).then(
      () => `${column} is taken`,
      (error: Error) => error.message,
    );
  for (const ip of CANONICAL) {
    await set('decisions', 'ip', ip);
    await set('security_config', 'admin_whitelist', `${ip},192.0.2.8`);
    expect(await verdictOf(ip)).toBe(`${ip} is taken`);
  }
  for (const ip of WRONG) {
    await set('decisions', 'ip', ip);
    expect(await verdictOf(ip)).toMatch(/^the ban of .* is no address or CIDR range$/);
  }
  await set('decisions', 'ip', '192.0.2.1');
  await set('decisions', 'source', 'x\n0.0.0.0/0 ok');
  expect(await verdictOf('source')).toBe('the ban of 192.0.2.1: source is none');
  await set('decisions', 'source', 'crowdsec');
  for (const list of ['admin_whitelist', 'rate_limit_bypass_list']) {
    for (const wrong of ['192.0.2.7\n', '192.0.2.7, 192.0.2.8', ',', 'x\n0.0.0.0/0']) {
      await set('security_config', list, wrong);
      expect(await verdictOf(list)).toBe(`the security configuration: ${list} is no list of addresses and CIDR ranges`);
    }
    await set('security_config', list, '');
  }
  expect(await verdictOf('all')).toBe('all is taken');
});
