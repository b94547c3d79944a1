import { describe, expect, test } from 'vitest';
import { expectOrder, guardless, isAtLeast, readBy, section, versions } from '../../test/support/written-config.ts';
import { dataPlaneFiles } from './layout.ts';

// What other versions of HAProxy read than the one that tests start, beside what those see at work.

describe('every version', () => {
  test.each(versions)('is told the process-wide limits and what TLS may be: %s', (version) => {
    const lines = section(readBy(version, { ...guardless, threads: 3, maxConnections: 77 }), 'global');
    expect(lines).toEqual(
      expect.arrayContaining([
        'default-path config',
        'log stdout len 12288 format raw local0 notice',
        'log ring@events len 12288 format raw local0 notice',
        'stats socket /run/proxy/admin.sock mode 600 level admin expose-fd listeners',
        'stats timeout 20d',
        'localpeer sallyport',
        'nbthread 3',
        'maxconn 77',
        'hard-stop-after 1h',
        'tune.bufsize 16384',
        'ssl-default-bind-options ssl-min-ver TLSv1.2 no-tls-tickets prefer-client-ciphers',
        'ssl-default-server-options ssl-min-ver TLSv1.2',
      ]),
    );
    expect(lines.find((line) => line.startsWith('ssl-default-bind-ciphers '))).toMatch(
      / (?:ECDHE-[A-Z0-9-]+(?::|$))+$/,
    );
    expect(lines.find((line) => line.startsWith('ssl-default-bind-ciphersuites '))).toMatch(/ (?:TLS_\w+(?::|$))+$/);
    const windows = lines.filter((line) => line.startsWith('tune.h2.'));
    const name = version === '2.6' ? 'tune.h2.initial-window-size' : 'tune.h2.fe.initial-window-size';
    expect(windows).toEqual(version === '3.1' ? [] : [`${name} 1048576`]);
  });

  test.each(versions)('waits for nobody for ever, and sends nothing twice: %s', (version) => {
    expect(section(readBy(version), 'defaults')).toEqual(
      expect.arrayContaining([
        'timeout http-request 15s',
        'timeout http-keep-alive 75s',
        'timeout connect 5s',
        'timeout client 60s',
        'timeout server 300s',
        'timeout tunnel 1h',
        'timeout client-fin 30s',
        'retries 1',
        'default-server pool-purge-delay 3s',
        'option http-no-delay',
        'option abortonclose',
        'http-reuse safe',
        'option log-separate-errors',
      ]),
    );
  });

  test.each(versions)('listens where it is told, and its rules come in their order: %s', (version) => {
    const lines = section(readBy(version, guardless), 'frontend proxy');
    expect(lines.slice(0, 3)).toEqual([
      'bind 127.0.0.1:80',
      `bind 127.0.0.1:443 ssl crt-list ${dataPlaneFiles.crtList} alpn h2,http/1.1`,
      `bind [::1]:443 v6only ssl crt-list ${dataPlaneFiles.crtList} alpn h2,http/1.1`,
    ]);
    expect(lines).toContain('option http-restrict-req-hdr-names delete');
    expectOrder(lines, [
      'option http-restrict-req-hdr-names',
      'tcp-request session set-var(sess.reference)',
      'acl repeatable',
      'http-request set-var(txn.route) req.fhdr(host)',
      'acl cleared',
      // Who leaves the rules here was cleared, whatever the host.
      'http-request allow if { var(txn.route) -m beg',
      'http-request set-var(txn.flags)',
      'http-request allow if ordinary_host untouched',
      'http-request deny deny_status 400 if odd_name !plain_name',
      'http-request deny deny_status 400 if { req.hdrs',
      'http-request del-header Forwarded',
      'http-request set-header X-Real-IP',
      'http-request add-header X-Sallyport-Proxied here.',
      'http-request set-dst ',
      'http-request allow if ordinary_host !upgrade',
      'http-request allow if { path -m beg /.well-known/acme-challenge/ }',
      'http-request deny deny_status 405 if no_business',
      'http-request allow if emergency METH_POST emergency_host',
      'http-request deny deny_status 404',
      'http-request return status 508',
      'http-request set-var(txn.refused) str(unknown) if !cleared !whitelisted',
      'http-request set-var(txn.refused) str(decision)',
      'http-request set-var(txn.refused) str(rate_limit)',
      'http-request set-var(txn.refused) str(unknown) if { var(txn.limit) -m int lt 0 }',
      'http-request set-var(txn.refused) str(exploit)',
      'http-request allow if plain_host !refused !upgrade',
      'http-request deny deny_status 429',
      'http-request deny deny_status 503 if unknown',
      'http-request deny deny_status 403 if refused',
      'http-request del-header Upgrade if other_upgrade',
      'http-request redirect prefix https://',
      'use_backend untouched',
      'use_backend origins',
      'use_backend challenges',
      'use_backend special_origins',
      'default_backend origins',
    ]);
    // Nobody leaves by a rule that asks neither who it is nor what is asked for.
    const allowed = lines.filter((line) => line.startsWith('http-request allow if'));
    const others = allowed.filter((line) => !/ readable_target !without_headers cleared unlimited /.test(line));
    expect(others.filter((line) => !line.includes('http_first_req'))).toEqual([
      'http-request allow if { path -m beg /.well-known/acme-challenge/ } METH_GET answers_challenge',
      'http-request allow if emergency METH_POST emergency_host',
      'http-request allow if plain_host !refused !upgrade',
    ]);
    for (const line of allowed.filter((one) => !others.includes(one)))
      expect(line).toMatch(/ !notable| web_target !\{ path -m beg/);
  });

  test.each(versions)(
    'has a way for each kind of origin, and from 3.0 on one more for what must not be repeated: %s',
    (version) => {
      for (const backend of ['origins', 'special_origins']) {
        const lines = section(readBy(version, guardless), `backend ${backend}`);
        const servers = lines.filter((line) => line.startsWith('server '));
        const once = servers.filter((line) => line.includes('-once '));
        const usual = servers.filter((line) => !once.includes(line));
        const twins = usual.map((line) =>
          line.replace(/^server (\S+) (.*)$/, 'server $1-once $2 pool-max-conn 0 max-reuse 0'),
        );
        expect(once).toEqual(isAtLeast(version, '3.0') ? twins : []);
        const used = lines.filter((line) => line.startsWith('use-server '));
        const isOnce = used.map((line) => line.includes('-once if '));
        // All of them are asked before the others.
        expect(isOnce).toEqual(isOnce.toSorted().reverse());
        const usedOnce = used.filter((_, index) => isOnce[index]);
        expect(usedOnce.map((line) => line.replace('-once if', ' if').replace(/ !repeatable$/, ''))).toEqual(
          once.length > 0 ? used.filter((_, index) => !isOnce[index]) : [],
        );
      }
      const special = section(
        readBy(version, { ...guardless, originAuthorities: '/etc/own.pem' }),
        'backend special_origins',
      );
      expect(special.filter((line) => line.startsWith('server ') && !line.includes('-once '))).toEqual([
        'server api unix@/run/proxy/api.sock',
        'server https-verify-h2 0.0.0.0:0 ssl verify required ca-file /etc/own.pem sni var(txn.server_name) alpn h2,http/1.1',
        'server https-verify 0.0.0.0:0 ssl verify required ca-file /etc/own.pem sni var(txn.server_name)',
        'server https-h2 0.0.0.0:0 ssl verify none sni var(txn.server_name) alpn h2,http/1.1',
        'server https 0.0.0.0:0 ssl verify none sni var(txn.server_name)',
        'server h2c 0.0.0.0:0 proto h2',
        'server http 0.0.0.0:0',
      ]);
      // What has to be verified is asked before what need not be.
      expect(special.filter((line) => line.startsWith('use-server ') && !line.includes('-once '))).toEqual([
        'use-server http if plain_origin',
        'use-server api if own_api',
        'use-server https-verify-h2 if verify http2 !upgrade',
        'use-server https-verify if verify',
        'use-server https-h2 if tls http2 !upgrade',
        'use-server https if tls',
        'use-server h2c if http2 !upgrade',
        'use-server http if !tls',
      ]);
      expect(special).toContain('default-server no-ssl-reuse');
      expect(section(readBy(version), 'backend special_origins').join('\n')).not.toMatch(/^server api/m);
    },
  );

  test.each(versions)('adds the same headers to what it leaves as it is: %s', (version) => {
    const lines = section(readBy(version), 'backend untouched');
    const added = lines
      .filter((line) => line.startsWith('http-request add-header '))
      .map((line) => line.slice('http-request add-header '.length));
    const headers = added.flatMap((line) => {
      const [, name, value = ''] = /^(\S+) "?(.*?)"?$/.exec(line) ?? [];
      return `${name}: ${value}`.split(String.raw`\r\n`);
    });
    expect(headers).toEqual([
      'x-real-ip: %[var(sess.client)]',
      'x-forwarded-for: %[var(sess.client)]',
      'x-forwarded-proto: %[var(sess.proto)]',
      'x-forwarded-host: %[req.fhdr(host,1)]',
      'x-forwarded-port: %fp',
      'x-sallyport-proxied: here.%[var(txn.route),field(-1,|)]',
    ]);
    expect(added).toHaveLength(isAtLeast(version, '3.1') ? 6 : 1);
    expect(lines.filter((line) => line.startsWith('server'))).toEqual(['server http 0.0.0.0:0']);
  });

  test.each(versions)('hands over what must not be repeated, before 3.0, by sockets of its own: %s', (version) => {
    const lines = readBy(version, guardless);
    const own = lines.filter((line) => line.includes('/once-'));
    expect(own).toEqual(
      isAtLeast(version, '3.0')
        ? []
        : [
            'bind unix@/run/proxy/once-plain.sock mode 600 accept-proxy name once-plain',
            'bind unix@/run/proxy/once-tls.sock mode 600 accept-proxy name once-tls',
            'server plain unix@/run/proxy/once-plain.sock send-proxy-v2 pool-max-conn 0',
            'server tls unix@/run/proxy/once-tls.sock send-proxy-v2 pool-max-conn 0',
          ],
    );
    const closes = lines.filter((line) => line.startsWith('http-request set-header Connection close'));
    expect(closes).toEqual([
      'http-request set-header Connection close if !http1 signs_in',
      ...(isAtLeast(version, '3.0')
        ? ['http-request set-header Connection close if !repeatable !http1']
        : [
            'http-request set-header Connection close if !repeatable { var(txn.alone) -m found }',
            'http-request set-header Connection close if !{ req.ver -m beg 1. }',
          ]),
    ]);
  });

  test.each(versions)('tells its log to who listens, before 3.0 by a gate: %s', (version) => {
    const lines = readBy(version, guardless);
    for (const [ring, gate, socket] of [
      ['events', 'gate', 'log'],
      ['traffic', 'traffic_gate', 'traffic'],
    ] as const) {
      const servers = section(lines, `ring ${ring}`).filter((line) => line.startsWith('server '));
      const isDirect = isAtLeast(version, '3.0');
      expect(servers).toEqual([
        isDirect
          ? `server intake unix@/run/proxy/${socket}.sock`
          : `server ${gate} unix@/run/proxy/${gate}.sock ssl verify none`,
      ]);
      if (isDirect) continue;
      expect(section(lines, `listen ${gate}`)).toEqual(
        expect.arrayContaining([
          `bind unix@/run/proxy/${gate}.sock mode 600 ssl crt ${dataPlaneFiles.defaultCertificate}`,
          `tcp-request connection reject if { nbsrv(${gate}) lt 1 }`,
          expect.stringMatching(`^server intake unix@/run/proxy/${socket}.sock check `),
        ]),
      );
    }
    expect(section(lines, 'frontend proxy')).toContain('log ring@traffic len 12288 format raw local0 info');
    expect(readBy(version).join('\n')).not.toMatch(/^ring |log ring@|no option dontlog-normal/m);
  });
});
