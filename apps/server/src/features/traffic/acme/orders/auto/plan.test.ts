import { describe, expect, test } from 'vitest';
import { type KnownCertificate, type KnownOrder, type PlanInput, planAuto } from './plan.ts';

const now = new Date('2026-11-22T12:00:00.000Z');
const NEXT = '2026-12-22T12:00:00.000Z';
const LATER = '2027-02-22T12:00:00.000Z';
const SOON = '2026-12-06T12:00:00.000Z';
const BEFORE = '2026-10-22T12:00:00.000Z';

const plan = (more: Partial<PlanInput>) =>
  planAuto({ hosts: [], certificates: [], orders: [], hasDnsProvider: false, now, ...more });
const host = (...names: string[]) => ({ id: 1, names });
const certificate = (domains: string, more: Partial<KnownCertificate> = {}): KnownCertificate => ({
  id: 7,
  domains,
  expires_at: LATER,
  isPlaceholder: false,
  ...more,
});
const order = (names: string, more: Partial<KnownOrder> = {}): KnownOrder => ({
  certificateId: 7,
  issuer: 'acme',
  names: names.split(','),
  isAuto: true,
  nextAttemptAt: NEXT,
  ...more,
});
const NOTHING = { create: [], change: [], wake: [] };

describe('a host with auto_certificate', () => {
  test('gets one certificate for all its names', () => {
    expect(plan({ hosts: [host('a.example.com', 'b.example.com')] })).toEqual({
      ...NOTHING,
      create: [{ hostId: 1, names: ['a.example.com', 'b.example.com'], issuer: 'acme', challenge: 'http-01' }],
    });
  });

  test('gets none for names that have one, by a wildcard too', () => {
    const certificates = [certificate('*.example.com')];
    const hosts = [host('a.example.com', 'example.com')];
    expect(plan({ hosts, certificates }).create).toMatchObject([{ names: ['example.com'] }]);
    expect(plan({ hosts: [host('a.example.com')], certificates })).toEqual(NOTHING);
  });

  test.each([
    ['has expired', BEFORE],
    ['has two weeks to go', SOON],
  ])('gets one when an uploaded one %s; one that is kept is renewed instead', (_, expires_at) => {
    const hosts = [host('a.example.com')];
    const certificates = [certificate('a.example.com', { expires_at })];
    expect(plan({ hosts, certificates }).create).toHaveLength(1);
    expect(plan({ hosts, certificates, orders: [order('a.example.com', { isAuto: false })] })).toEqual(NOTHING);
  });

  test('is not ordered for twice while it waits', () => {
    const certificates = [certificate('a.example.com', { isPlaceholder: true })];
    const orders = [order('a.example.com')];
    expect(plan({ hosts: [host('a.example.com')], certificates, orders })).toEqual(NOTHING);
  });

  test('gets none for a name that a wildcard takes in which another host is having', () => {
    const orders = [order('*.example.com', { isAuto: false })];
    expect(plan({ hosts: [host('a.example.com')], orders })).toEqual(NOTHING);
    expect(plan({ hosts: [host('a.b.example.com', 'example.com')], orders }).create).toMatchObject([
      { names: ['a.b.example.com', 'example.com'] },
    ]);
  });

  test('has its own ordered anew when a name comes, with the names that are still its', () => {
    const certificates = [certificate('a.example.com,gone.example.com')];
    const orders = [order('a.example.com,gone.example.com')];
    expect(plan({ hosts: [host('a.example.com', 'b.example.com')], certificates, orders })).toEqual({
      ...NOTHING,
      change: [{ certificateId: 7, names: ['a.example.com', 'b.example.com'], challenge: 'http-01' }],
    });
  });

  test('gets one of its own when a name of another host comes to it: that host keeps what it has', () => {
    const certificates = [certificate('a.example.com,b.example.com')];
    const orders = [order('a.example.com,b.example.com')];
    const hosts = [host('a.example.com'), { id: 2, names: ['b.example.com', 'c.example.com'] }];
    expect(plan({ hosts, certificates, orders })).toEqual({
      ...NOTHING,
      create: [{ hostId: 2, names: ['c.example.com'], issuer: 'acme', challenge: 'http-01' }],
    });
  });

  test('has one kept again that was let go', () => {
    const certificates = [certificate('a.example.com')];
    const orders = [order('a.example.com', { nextAttemptAt: null })];
    expect(plan({ hosts: [host('a.example.com')], certificates, orders })).toEqual({ ...NOTHING, wake: [7] });
  });

  test('has one of its own ordered anew that was let go and has expired', () => {
    const certificates = [certificate('a.example.com', { expires_at: BEFORE })];
    const orders = [order('a.example.com', { nextAttemptAt: null })];
    expect(plan({ hosts: [host('a.example.com')], certificates, orders }).change).toEqual([
      { certificateId: 7, names: ['a.example.com'], challenge: 'http-01' },
    ]);
  });

  test('gets a wildcard when there is who writes records, and without the names that takes in', () => {
    const hosts = [host('*.example.com', 'a.example.com', 'example.com')];
    expect(plan({ hosts }).create).toMatchObject([{ names: ['a.example.com', 'example.com'], challenge: 'http-01' }]);
    expect(plan({ hosts, hasDnsProvider: true }).create).toMatchObject([
      { names: ['*.example.com', 'example.com'], challenge: 'dns-01' },
    ]);
  });

  test('gets another one for names that no public authority can reach', () => {
    expect(plan({ hosts: [host('a.example.com', 'nas.lan', 'printer')] }).create).toEqual([
      { hostId: 1, names: ['nas.lan', 'printer'], issuer: 'internal', challenge: 'http-01' },
      { hostId: 1, names: ['a.example.com'], issuer: 'acme', challenge: 'http-01' },
    ]);
  });

  test('gets none for a name that no certificate can have', () => {
    expect(plan({ hosts: [host('under_score.example.com')] })).toEqual(NOTHING);
  });
});
