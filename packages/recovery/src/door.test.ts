import { Cidr } from '@sallyport/deployment/cidr';
import { beforeEach, describe, expect, test } from 'vitest';
import { createDoor, type Decision, type Door } from './door.ts';

const TOKEN = 'a'.repeat(64);
const MANAGEMENT = ['10.0.0.0/8', '127.0.0.0/8', 'fd00::/8'].map(Cidr.parse);

const statusOf = (decision: Decision) => (decision.isOpen ? 200 : decision.status);

describe('the door of the emergency reset', () => {
  let now: number;
  let door: Door;
  beforeEach(() => {
    now = 0;
    door = createDoor({ token: TOKEN, managementCidrs: MANAGEMENT, now: () => now });
  });

  test('opens to the token, from a management address', () => {
    expect(statusOf(door({ address: '10.1.2.3', token: TOKEN }))).toBe(200);
    expect(statusOf(door({ address: '::ffff:10.1.2.4', token: TOKEN }))).toBe(200);
  });

  test.each([[undefined], [''], [`${TOKEN} `], [TOKEN.slice(1)], [`${TOKEN}a`]])('refuses the token %o', (token) => {
    expect(statusOf(door({ address: '10.1.2.3', token }))).toBe(401);
  });

  test.each([['192.0.2.1'], ['2001:db8::1'], [''], ['10.1.2.3, 127.0.0.1'], ['localhost']])(
    'refuses the address %o whatever it shows',
    (address) => {
      expect(statusOf(door({ address, token: TOKEN }))).toBe(403);
    },
  );

  test('tells the audit trail why, and the caller what is missing', () => {
    const told = (caller: Parameters<Door>[0], at = door) => {
      const decision = at(caller);
      return decision.isOpen ? [] : [decision.reason, decision.error];
    };
    const guarded = createDoor({ token: TOKEN, managementCidrs: MANAGEMENT, basicAuth: { user: 'a', password: 'b' } });
    const none = createDoor({ token: undefined, managementCidrs: MANAGEMENT });
    expect([
      told({ address: '10.1.2.3', token: 'x' }),
      told({ address: '10.1.2.3', token: undefined }),
      told({ address: '192.0.2.1', token: TOKEN }),
      told({ address: '10.1.2.3', token: TOKEN }, guarded),
      told({ address: '10.1.2.3', token: TOKEN }, none),
    ]).toEqual([
      ['wrong token', 'A valid emergency token is required'],
      ['no token', 'A valid emergency token is required'],
      ['address outside the management ranges', 'Emergency reset is not allowed from this address'],
      ['wrong user or password', 'User and password of the emergency server are required'],
      [undefined, 'Emergency reset is off: SALLYPORT_EMERGENCY_TOKEN is not set'],
    ]);
  });

  test('counts by the clock where it is given none', () => {
    const own = createDoor({ token: TOKEN, managementCidrs: MANAGEMENT });
    for (let attempt = 1; attempt <= 5; attempt++) own({ address: '10.0.0.1', token: 'wrong' });
    expect(statusOf(own({ address: '10.0.0.1', token: TOKEN }))).toBe(429);
  });

  test('is closed for everybody without a token of its own', () => {
    const none = createDoor({ token: undefined, managementCidrs: MANAGEMENT });
    expect(statusOf(none({ address: '127.0.0.1', token: undefined }))).toBe(501);
    expect(statusOf(none({ address: '127.0.0.1', token: '' }))).toBe(501);
  });

  test('looks at five attempts in a minute, the right token among them, and says how long to wait', () => {
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(statusOf(door({ address: '10.0.0.1', token: 'wrong' }))).toBe(401);
      now += 1_000;
    }
    const refused = door({ address: '10.0.0.1', token: TOKEN });
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': '55' }, reason: 'too many attempts' });
    expect(door({ address: '10.0.0.1', token: TOKEN })).toMatchObject({ status: 429, reason: undefined });
    expect(statusOf(door({ address: '10.0.0.2', token: TOKEN }))).toBe(200);
    now = 60_000;
    expect(statusOf(door({ address: '10.0.0.1', token: TOKEN }))).toBe(200);
    expect(statusOf(door({ address: '10.0.0.1', token: TOKEN }))).toBe(429);
  });

  test('takes all addresses of an IPv6 network for one client', () => {
    for (let host = 1; host <= 5; host++) door({ address: `fd00::${host}`, token: 'wrong' });
    expect(statusOf(door({ address: 'fd00::6', token: TOKEN }))).toBe(429);
    expect(statusOf(door({ address: 'fd00:0:0:1::6', token: TOKEN }))).toBe(200);
  });

  test('asks for user and password besides, where they are set', () => {
    const both = createDoor({
      token: TOKEN,
      managementCidrs: MANAGEMENT,
      basicAuth: { user: 'ops', password: 'pässword:1' },
    });
    const authorization = `Basic ${Buffer.from('ops:pässword:1').toString('base64')}`;
    expect(statusOf(both({ address: '10.0.0.1', token: TOKEN, authorization }))).toBe(200);
    expect(both({ address: '10.0.0.1', token: TOKEN })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': expect.stringContaining('Basic') },
    });
    expect(statusOf(both({ address: '10.0.0.1', token: 'wrong', authorization }))).toBe(401);
  });

  test('forgets quiet addresses rather than to grow', () => {
    for (let index = 0; index < 10_100; index++) {
      door({ address: `10.0.${index >> 8}.${index & 255}`, token: 'wrong' });
    }
    // The latest are all still counted.
    for (let attempt = 2; attempt <= 5; attempt++) door({ address: '10.0.39.115', token: 'wrong' });
    expect(statusOf(door({ address: '10.0.39.115', token: TOKEN }))).toBe(429);
  });
});
