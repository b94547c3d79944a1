import type { AuditEntry, ConfigDocument } from '@sallyport/contract';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  applied,
  certificateNamed,
  configure,
  exported,
  type Instance,
  inShort,
  openInstance,
  refused,
} from '../../testing/given-as-code.ts';
import { onBothDatabases } from '../../testing/start-app.ts';

onBothDatabases('the configuration as code', (kind) => {
  let one: Instance;
  const others: Instance[] = [];
  const another = async (): Promise<Instance> => {
    const instance = await openInstance(kind);
    others.push(instance);
    return instance;
  };
  beforeEach(async () => {
    one = await openInstance(kind);
  });
  afterEach(async () => {
    for (const { app } of [one, ...others.splice(0)]) await app.stop();
  });

  test('what is exported changes nothing where it comes from, and makes the same of an empty instance', async () => {
    await configure(one);
    const text = await exported(one);
    expect(text).not.toContain('do not tell');
    expect(await exported(one)).toBe(text);
    const document = parse(text) as ConfigDocument;
    const asJson = await one.app.send<ConfigDocument>('GET', '/export?format=json', undefined, one.admin.headers);
    expect(asJson.body).toEqual(document);
    expect(document.proxy_hosts?.map(({ domain }) => domain)).toEqual([
      'a.example.com',
      'b.example.com,*.c.example.com',
    ]);
    expect(document.proxy_hosts?.[0]).toEqual({
      domain: 'a.example.com',
      forward_host: '127.0.0.1',
      forward_port: 9,
      remote_server: 'rack',
    });
    expect(document.proxy_hosts?.[1]).toMatchObject({
      remote_server: 'twin (127.0.0.1:2)',
      certificate: 'theirs',
      access_list: 'office',
    });

    const trail = async () => {
      const answer = await one.app.send<AuditEntry[]>('GET', '/audit-logs?limit=1', undefined, one.admin.headers);
      return answer.body[0]?.id;
    };
    const before = await trail();
    for (const query of ['', '?dry_run=true', '?prune=true', '?prune=true&dry_run=true']) {
      expect(await applied(one, text, query)).toEqual({ changes: [], applied: false, batch: null, backup: null });
      expect(await applied(one, document, query)).toMatchObject({ changes: [] });
    }
    expect(await trail()).toBe(before);

    const two = await another();
    expect(await refused(two, text)).toBe('proxy_hosts[1].certificate names no certificate: "theirs"');
    const up = await two.app.send('POST', '/certificates/upload', certificateNamed('theirs'), two.admin.headers);
    expect(up.status).toBe(201);
    const rehearsed = await applied(two, text, '?dry_run=true');
    expect(parse(await exported(two))).toMatchObject({ proxy_hosts: [] });
    const done = await applied(two, text);
    expect(done.changes).toEqual(rehearsed.changes);
    expect(done).toMatchObject({ applied: true, batch: expect.any(String), backup: expect.any(String) });
    expect(await exported(two)).toBe(text);
    // Pruning the other way round: everything goes, and what is secret stays.
    const three = await another();
    const empty = await exported(three);
    await applied(two, empty, '?prune=true');
    expect(await exported(two)).toBe(empty);
    const password = await two.app.send('GET', '/settings/smtp.password', undefined, two.admin.headers);
    expect(password.body).toMatchObject({ is_set: false });
  });

  test('leaves alone what a document leaves out, tells what changes, and goes back as one', async () => {
    await configure(one);
    const before = await exported(one);
    const document = {
      sallyport: 1,
      settings: { 'audit.retention_days': 8 },
      remote_servers: [{ name: 'new', host: '127.0.0.1', port: 3 }],
      proxy_hosts: [
        { domain: 'A.example.com', forward_port: 10, remote_server: 'new' },
        // Takes a name over that the other one has.
        { domain: 'b.example.com', access_list: null },
        { domain: 'd.example.com,*.c.example.com', forward_host: '127.0.0.1', forward_port: 9 },
      ],
    };
    const rehearsed = await applied(one, document, '?dry_run=true');
    expect(rehearsed).toMatchObject({ applied: false, batch: null, backup: null });
    expect(inShort(rehearsed.changes)).toEqual([
      'update settings audit.retention_days: value',
      'create remote_servers new: name,host,port',
      'update proxy_hosts a.example.com: forward_port,remote_server',
      'update proxy_hosts b.example.com: domain,access_list',
      'create proxy_hosts d.example.com: domain,forward_host,forward_port',
    ]);
    expect(rehearsed.changes[2]?.fields).toEqual([
      { field: 'forward_port', before: 9, after: 10 },
      { field: 'remote_server', before: 'rack', after: 'new' },
    ]);
    expect(await exported(one)).toBe(before);

    const done = await applied(one, document);
    expect(done.changes).toEqual(rehearsed.changes);
    const backups = await one.app.send<{ name: string }[]>('GET', '/backups', undefined, one.admin.headers);
    expect(backups.body.map(({ name }) => name)).toContain(done.backup);
    const trail = await one.app.send<AuditEntry[]>('GET', '/audit-logs?limit=9', undefined, one.admin.headers);
    expect(trail.body.map(({ action }) => action)).toContain('config.apply');
    expect(trail.body.map(({ action }) => action)).toContain('proxy_host.create');
    expect(await applied(one, document)).toMatchObject({ changes: [] });

    const back = await one.app.send('POST', `/history/batches/${done.batch}/revert`, undefined, one.admin.headers);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await exported(one)).toBe(before);

    // Only within the sections that there are.
    const pruned = await applied(one, { sallyport: 1, proxy_hosts: [{ domain: 'a.example.com' }] }, '?prune=true');
    expect(inShort(pruned.changes)).toEqual([
      'update security security: waf_exclusions',
      'update proxy_hosts a.example.com: remote_server',
      'delete proxy_hosts b.example.com: domain,name,forward_scheme,forward_host,forward_port,ssl_forced,http2_support,hsts_enabled,hsts_subdomains,block_exploits,websocket_support,enabled,enable_standard_headers,forward_verify_tls,forward_http2,forward_reserved,waf_enabled,waf_inspect_responses,waf_allowed_methods,waf_allowed_content_types,waf_body_limit,remote_server,certificate,access_list',
    ]);
  });
});
