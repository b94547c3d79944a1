import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../../test/support/free-ports.ts';
import type { Named } from '../../../../../../test/support/start-named.ts';
import { byUpdate, failureOf, givenDnsWriter, silentPort, startZones } from '../../../testing/given-dns-writer.ts';

let named: Named;
beforeAll(async () => {
  named = await startZones();
});
afterAll(() => named.stop());

test('two values at one name are one round, and more than those of others', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const challenges = [challenge('two.zone.test'), challenge('two.zone.test'), challenge('led.zone.test')];
  expect(await writer.rounds(byUpdate(named), challenges)).toEqual([challenges]);
  const other = await writer.open(byUpdate(named), [challenge('two.zone.test')], context);
  const open = await writer.open(byUpdate(named), challenges, context);
  expect(await named.textOf('_acme-challenge.two.zone.test')).toHaveLength(3);
  await open.close();
  expect(await named.textOf('_acme-challenge.two.zone.test')).toHaveLength(1);
  await other.close();
});

test('a server that never answers is given up', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const { fields, ...access } = byUpdate(named);
  const port = await silentPort();
  const nowhere = { ...fields, port: String(port), zone: 'zone.test' };
  const error = await failureOf(writer.open({ ...access, fields: nowhere }, [challenge('c.zone.test')], context));
  expect(error.message).toContain('the server does not answer');
});

test('a zone that the server does not have is told', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const { fields, ...access } = byUpdate(named);
  const error = await failureOf(
    writer.open({ ...access, fields: { ...fields, zone: 'foreign.test' } }, [challenge('c.zone.test')], context),
  );
  expect(error.message).toMatch(/^The name server 127\.0\.0\.1:\d+ did not take the update of zone foreign\.test: /);
});

test('where the server that takes updates does not answer, the zone is the one that the resolver knows', async () => {
  const { writer, challenge, context } = givenDnsWriter(named);
  const { fields, ...access } = byUpdate(named);
  const away = { ...access, fields: { ...fields, port: String(await freePort()) } };
  const error = await failureOf(writer.open(away, [challenge('d.zone.test')], context));
  expect(error.message).toMatch(/ did not take the update of zone zone\.test: the server does not answer /);
});
