import { expect, test } from 'vitest';
import { createAppliedStates, isAway } from './applied-states.ts';

const AWAY = 'HAProxy is not running: connect ENOENT';
const APPLIED = { applied: true, issue: null };
const waitsFor = (issue: string) => ({ applied: false, issue });

test('only that HAProxy is not running is being away', () => {
  expect([AWAY, 'the map is full', undefined, `oh: ${AWAY}`].map(isAway)).toEqual([true, false, false, false]);
});

test('what nobody has told of is not applied', () => {
  const states = createAppliedStates();
  const pending = waitsFor('the data plane has not been read back yet');
  expect([states.host(1), states.certificate(1, 'v1'), states.of(undefined)]).toEqual([pending, pending, pending]);
  expect(states.isWhole()).toBe(true);
});

test('an outcome says of one host or certificate what became of it', () => {
  const states = createAppliedStates();
  states.hosts.set(1, states.of({ applied: true }));
  states.hosts.set(2, states.of({ applied: false, issue: 'the map is full' }));
  states.certificates.set(1, { version: 'v1', state: states.of({ applied: false }) });
  expect([states.host(1), states.host(2), states.certificate(1, 'v1')]).toEqual([
    APPLIED,
    waitsFor('the map is full'),
    waitsFor('the data plane does not say why'),
  ]);
  expect([states.countNotApplied(), states.isWhole()]).toEqual([1, true]);
});

test('of another version of a certificate nothing is known, unless no version could be read', () => {
  const states = createAppliedStates();
  states.certificates.set(1, { version: 'v1', state: states.of({ applied: true }) });
  expect([states.certificate(1, 'v1'), states.certificate(1, 'v2').applied]).toEqual([APPLIED, false]);
  states.certificates.set(1, { state: states.because('the store is away') });
  expect(states.certificate(1, 'v2')).toEqual(waitsFor('the store is away'));
});

test('what waits for HAProxy alone is applied as soon as that holds what is intended, and nothing else is', () => {
  const states = createAppliedStates();
  states.hosts.set(1, states.of({ applied: false, issue: AWAY }));
  states.hosts.set(2, states.because('its origin has no address'));
  states.certificates.set(3, { version: 'v1', state: states.compared({ applied: false, issue: AWAY }) });
  expect([states.host(1), states.host(2), states.certificate(3, 'v1')]).toEqual([
    waitsFor(AWAY),
    waitsFor('its origin has no address'),
    waitsFor(AWAY),
  ]);
  expect([states.countNotApplied(), states.isWhole()]).toEqual([2, false]);
  states.confirmed();
  expect([states.host(1), states.certificate(3, 'v1')]).toEqual([APPLIED, APPLIED]);
  expect(states.host(2)).toEqual(waitsFor('its origin has no address'));
  expect([states.countNotApplied(), states.isWhole()]).toEqual([1, true]);
});

test('a comparison that did not reach HAProxy says why of everything it found nothing wrong with', () => {
  const states = createAppliedStates();
  states.hosts.set(1, states.compared({ applied: false }));
  expect(states.host(1)).toEqual(waitsFor('the data plane is not reachable'));
  expect(states.isWhole()).toBe(false);
  states.hosts.set(1, states.compared({ applied: true }));
  expect([states.host(1), states.isWhole()]).toEqual([APPLIED, true]);
});

test('while the connection is lost nothing is claimed', () => {
  const states = createAppliedStates();
  states.hosts.set(1, states.of({ applied: true }));
  states.lost('HAProxy is not running: it was stopped');
  const lost = waitsFor('HAProxy is not running: it was stopped');
  expect([states.host(1), states.host(2), states.certificate(1, 'v1'), states.isWhole()]).toEqual([
    lost,
    lost,
    lost,
    false,
  ]);
  // A comparison that did not confirm anything is no connection.
  states.compared({ applied: false });
  expect(states.host(1)).toEqual(lost);
  states.confirmed();
  expect([states.host(1), states.isWhole()]).toEqual([APPLIED, true]);
});
