import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { expectOrder, readBy, section, settings, versions } from '../../test/support/written-config.ts';
import { writeStaticFiles } from '../files/static-files.ts';
import { routeFlags } from '../routes/flags.ts';
import { renderSpoe } from './guard.ts';
import { dataPlaneFiles } from './layout.ts';
import type { GuardSettings } from './settings.ts';

// What is written for guards, beside what test/guard sees at work: how they are parted into halves, what stands in for whom, and who is remembered.

const guard = (count: number, parts: Partial<GuardSettings> = {}): GuardSettings => ({
  agents: Array.from({ length: count }, (_, index) => `/run/agent-${index}.sock`),
  relays: Array.from({ length: count }, (_, index) => `/run/relay-${index}.sock`),
  spoeFile: '/etc/spoe.cfg',
  returnSocket: '/run/back.sock',
  timeoutMs: 500,
  ...parts,
});

const servers = (count: number, name: string): string[] =>
  section(readBy('2.6', { guard: guard(count) }), `backend ${name}`)
    .filter((line) => line.startsWith('server '))
    .map((line) => line.replace('server ', '').replaceAll(/unix@\/run\/agent-(\d)\.sock/g, '$1'));

describe('guards are asked by halves, each of which stands in for the other one', () => {
  test.each([
    [1, ['guard-0 0'], ['guard-0 0']],
    [
      2,
      ['guard-0 0 on-marked-up shutdown-backup-sessions', 'guard-1 1 backup'],
      ['guard-1 1 on-marked-up shutdown-backup-sessions', 'guard-0 0 backup'],
    ],
    [
      3,
      [
        'guard-0 0 on-marked-up shutdown-backup-sessions',
        'guard-2 2 on-marked-up shutdown-backup-sessions',
        'guard-1 1 backup',
      ],
      ['guard-1 1 on-marked-up shutdown-backup-sessions', 'guard-0 0 backup', 'guard-2 2 backup'],
    ],
  ])('of %i', (count, even, odd) => {
    expect([servers(count, 'guards_even'), servers(count, 'guards_odd')]).toEqual([even, odd]);
  });

  test('who is there of its own is known by its own guards alone', () => {
    const acls = section(readBy('2.6', { guard: guard(3) }), 'backend guarded').filter((line) => /_own /.test(line));
    expect(acls).toEqual([
      'acl even_own srv_is_up(guards_even/guard-0)',
      'acl even_own srv_is_up(guards_even/guard-2)',
      'acl odd_own srv_is_up(guards_odd/guard-1)',
      expect.stringContaining('if even_hung !even_own or even_hung !odd_own'),
      expect.stringContaining('if odd_hung !even_own or odd_hung !odd_own'),
    ]);
  });

  test('a connection that nobody takes is kept for a moment where HAProxy would try without end', () => {
    const rules = (version: string) =>
      section(readBy(version, { guard: guard(2) }), 'backend guards_odd').filter((line) =>
        /^(?:mode|tcp-request) /.test(line),
      );
    const kept = [
      'tcp-request inspect-delay 50ms',
      'tcp-request content accept if { nbsrv gt 0 }',
      'tcp-request content accept if WAIT_END',
    ];
    expect(Object.fromEntries(versions.map((version) => [version, rules(version)]))).toEqual({
      '2.6': ['mode tcp', ...kept],
      '2.8': ['mode tcp', ...kept],
      '3.0': ['mode tcp', ...kept],
      '3.1': ['mode spop'],
    });
  });

  test('each half has half of the time, rounded up', () => {
    const spoe = renderSpoe(guard(2, { timeoutMs: 501 }));
    expect(spoe.match(/^\[.*\]$|timeout processing .*|use-backend .*/gm)).toEqual([
      ...['[even]', 'timeout processing 251ms', 'use-backend guards_even'],
      ...['[odd]', 'timeout processing 251ms', 'use-backend guards_odd'],
    ]);
  });
});

test('the order in which a request is put to guards, and what is looked at after each', () => {
  const rules = section(readBy('2.6', { guard: guard(2) }), 'backend guarded').filter((line) =>
    /send-spoe-group|(?:un)?set-var\(txn\.(?:guard|\w+_hung|none)|track|allow/.test(line),
  );
  const looked = [
    'http-request track-sc2 var(txn.pass) table passes if { var(txn.pass) -m found } passed',
    'http-request allow if passed',
    'http-request unset-var(txn.guard.verdict) if unprepared',
  ];
  const ask = (half: string, condition: string) => [
    `http-request send-spoe-group ${half} request if firewalled ${condition}`,
    `http-request send-spoe-group ${half} client if !firewalled ${condition}`,
    ...looked,
  ];
  const hung = (half: string) => [
    `http-request set-var(txn.${half}_hung) bool(true) if hung`,
    `http-request unset-var(txn.guard.error) if ${half}_hung`,
    `http-request set-var(txn.none_left) bool(true) if ${half}_hung !even_own or ${half}_hung !odd_own`,
  ];
  expect(rules).toEqual([
    ...ask('even', '{ rand(2) -m int 0 } { nbsrv(guards_even) gt 0 }'),
    ...hung('even'),
    ...ask('odd', '!has_verdict !none_left { nbsrv(guards_odd) gt 0 }'),
    ...hung('odd'),
    ...ask('even', '!has_verdict !even_hung !none_left { nbsrv(guards_even) gt 0 }'),
    ...ask('odd', '!has_verdict !odd_hung !none_left { nbsrv(guards_odd) gt 0 }'),
    'http-request track-sc1 int(1) table unjudged if !has_verdict',
    'http-request allow if !has_verdict !unprepared fail_open',
  ]);
});

describe('whom a list let pass is remembered', () => {
  const rules = (trustedProxies: string[]) =>
    section(readBy('2.6', { guard: guard(1), trustedProxies }), 'frontend proxy').filter((line) =>
      /remembered|txn\.pass|txn\.client|list_alone/.test(line),
    );
  const key = (client: string) =>
    `http-request set-var(txn.pass) var(txn.route),field(5,|),concat(-,${client},-),concat(,txn.remembered) if list_alone remembers`;

  test('by host, address and revision, as long as nothing but the list is asked about', () => {
    expectOrder(rules([]), [
      `acl list_alone var(txn.judge) -m int ${routeFlags.accessList}`,
      `http-request set-var(txn.remembered) str(remembered),map_str_int(${dataPlaneFiles.switchesMap},0) if list_alone`,
      'acl remembers var(txn.remembered) -m int gt 0',
      key('sess.client'),
      `http-request set-var(txn.flags) var(txn.flags),and(${0x7fffffff - routeFlags.accessList - routeFlags.firewall}) if list_alone { var(txn.pass),table_expire(passes,0) gt 0 }`,
      'http-request set-var(txn.judge) int(0) if list_alone !may_be_judged',
    ]);
    expect(rules([]).join('\n')).not.toContain('txn.client');
  });

  test('behind other proxies by the address that this request tells', () => {
    expectOrder(rules(['192.0.2.0/24']), [
      'http-request set-var-fmt(txn.client) %[src] if list_alone remembers',
      key('txn.client'),
    ]);
  });

  test('for half a minute, by keys that are never cut', () => {
    const [table] = section(readBy('2.6', { guard: guard(1) }), 'backend passes');
    expect(table).toBe('stick-table type string len 96 size 20k expire 30s');
  });

  test('by nothing where there are no guards', () => {
    expect(readBy('2.6').join('\n')).not.toMatch(/remembered|txn\.pass|passes|guard|relay|undefined/);
  });
});

test('a long body goes to the relay of the guard that answered, and nobody else takes it back', () => {
  const lines = readBy('2.6', { guard: guard(2) });
  const relay = section(lines, 'backend relay');
  expect(relay.filter((line) => /^(?:use-server|server) |srv_is_up\(relay/.test(line))).toEqual([
    ...Array.from({ length: 4 }, () =>
      [0, 1].map(
        (index) =>
          `http-request unset-var(txn.guard.relay) if { var(txn.guard.relay) -m int ${index} } !{ srv_is_up(relay/relay-${index}) }`,
      ),
    ).flat(),
    'use-server relay-0 if { var(txn.guard.relay) -m int 0 }',
    'use-server relay-1 if { var(txn.guard.relay) -m int 1 }',
    'server relay-0 unix@/run/relay-0.sock',
    'server relay-1 unix@/run/relay-1.sock',
  ]);
  expectOrder(relay, [
    'http-request set-var(txn.refused) str(guard)',
    'http-request deny deny_status 503 if gone',
    'http-request send-spoe-group even whoever',
    'http-request deny deny_status 503 if !answered',
    'http-request set-header X-Sallyport-Route',
    'use-server',
    'http-response unset-var(txn.refused)',
  ]);
  expect(relay.filter((line) => line.startsWith('filter '))).toEqual([
    'filter spoe engine even config /etc/spoe.cfg',
    'filter spoe engine odd config /etc/spoe.cfg',
  ]);
  expect(section(lines, 'frontend relayed')).toContain('bind unix@/run/back.sock mode 600');
});

test('short bodies are those that half of the buffer takes', () => {
  const waits = (bufferBytes: number) =>
    section(readBy('2.6', { guard: guard(1), bufferBytes }), 'frontend proxy').filter((line) =>
      /wait-for-body/.test(line),
    );
  const byLength = 'http-request wait-for-body time 30s if firewalled has_length { req.body_size le ';
  expect(waits(16_384)).toContain(`${byLength}8192 }`);
  expect(waits(65_536)).toContain(`${byLength}32768 }`);
});

test.each([1, 2, 3])('the HAProxy of this machine reads it: %i guards', (count) =>
  withTemporaryDirectory(async (directory) => {
    const written = settings({
      adminSocket: join(directory, 'admin.sock'),
      rateLimit: { windowSec: 60 },
      trustedProxies: count === 3 ? ['192.0.2.0/24'] : [],
      guard: guard(count, { spoeFile: join(directory, 'spoe.cfg'), returnSocket: join(directory, 'back.sock') }),
    });
    await writeStaticFiles(directory, written);
    const check = () =>
      execFileSync('/usr/sbin/haproxy', ['-c', '-f', join(directory, dataPlaneFiles.config)], { stdio: 'pipe' });
    // Later versions say nothing of a file that is valid.
    expect(check).not.toThrow();
  }),
);
