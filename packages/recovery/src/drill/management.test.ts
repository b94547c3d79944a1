import { Cidr } from '@sallyport/deployment/cidr';
import { parseListen } from '@sallyport/deployment/listen';
import { describe, expect, test } from 'vitest';
import { checkManagement } from './management.ts';

const DEFAULT = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '127.0.0.0/8'];

describe('the management ranges', () => {
  test.each([
    { cidrs: DEFAULT, bind: '127.0.0.1:2020', ok: true },
    { cidrs: DEFAULT, bind: undefined, ok: true },
    { cidrs: DEFAULT, bind: ':2020', ok: true },
    { cidrs: ['fd00::/8'], bind: ':2020', ok: true },
    { cidrs: DEFAULT, bind: '10.1.1.1:2020', ok: true },
    { cidrs: [], bind: undefined, ok: false },
    // The tunnel ends on loopback, wherever it begins.
    { cidrs: ['192.168.7.0/24'], bind: '127.0.0.1:2020', ok: false },
    { cidrs: ['192.168.7.0/24', '127.0.0.1'], bind: '127.0.0.1:2020', ok: true },
    { cidrs: ['192.168.7.0/24', '127.0.0.1'], bind: '127.0.0.2:2020', ok: false },
    // Who gets to another address may come from any network of its kind.
    { cidrs: ['192.168.7.0/24'], bind: '10.1.1.1:2020', ok: true },
    { cidrs: DEFAULT, bind: '[::1]:2020', ok: false },
    { cidrs: [...DEFAULT, '::1'], bind: '[::1]:2020', ok: true },
    { cidrs: DEFAULT, bind: '[fd00::1]:2020', ok: false },
    { cidrs: ['fd00::/8'], bind: '10.1.1.1:2020', ok: false },
  ])('$cidrs and a listener at $bind: $ok', ({ cidrs, bind, ok }) => {
    const outcome = checkManagement(cidrs.map(Cidr.parse), bind === undefined ? undefined : parseListen(bind));
    expect(outcome.ok, outcome.message).toBe(ok);
    if (!ok) expect(outcome.message).toContain('SALLYPORT_MANAGEMENT_CIDRS');
  });

  test('are told with what to add to them: the address of the tunnel’s end, or the networks outside', () => {
    const told = (bind: string) => checkManagement([Cidr.parse('192.168.7.0/24')], parseListen(bind)).message;
    expect(told('127.0.0.1:2020')).toContain('the emergency server at 127.0.0.1:2020 is refused');
    expect(told('127.0.0.1:2020')).toContain('add 127.0.0.1 to');
    expect(told('[fd00::1]:2020')).toContain('add the networks that reach it to');
  });
});
