import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createGivenImports, type GivenImports, site } from '../../../testing/given-imports.ts';
import { onBothDatabases, startApp, type TestApp } from '../../../testing/start-app.ts';

onBothDatabases('names that are taken', (kind) => {
  let app: TestApp;
  let given: GivenImports;
  beforeAll(async () => {
    app = await startApp(kind, { SALLYPORT_SESSION_SECRET: 's'.repeat(32) });
    given = createGivenImports(app);
  });
  afterAll(async () => {
    await app.stop();
  });
  afterEach(() => given.clear());

  test('asks what becomes of names that are taken, and does that', async () => {
    const kept = await given.host({ domain: 'kept.example.com' });
    const alone = await given.host({ domain: 'alone.example.com', waf_enabled: false, websocket_support: false });
    const several = await given.host({ domain: 'one.example.com,two.example.com', waf_inspect_responses: true });
    const { uuid } = await given.upload(
      [
        site('kept.example.com', 4001),
        site('alone.example.com', 4002),
        site('two.example.com, new.example.com', 4003),
        site('free.example.com', 4004),
      ].join('\n'),
    );
    const shown = await given.preview();
    expect(shown.conflicts).toEqual(['kept.example.com', 'alone.example.com', 'two.example.com']);
    expect(shown.hosts[2]?.existing).toEqual([{ uuid: several.uuid, domain: several.domain }]);
    expect(shown.hosts[1]?.changes).toContainEqual({ field: 'forward_port', before: 9, after: 4002 });

    const open = await given.commit(uuid, { 'kept.example.com': 'keep' });
    expect(open).toMatchObject({
      status: 400,
      body: {
        error: 'Invalid session or unresolved conflicts',
        details: 'conflicts without a resolution: alone.example.com, two.example.com',
      },
    });
    const resolutions = {
      'kept.example.com': 'keep',
      'Alone.example.com': 'overwrite',
      'two.example.com,new.example.com': 'overwrite',
    };
    expect((await given.commit(uuid, { ...resolutions, 'tpyo.example.com': 'skip' })).status).toBe(400);
    expect((await given.commit(uuid, { ...resolutions, 'kept.example.com': 'maybe' })).status).toBe(400);
    expect(await given.hosts()).toHaveLength(3);

    const done = await given.commit(uuid, resolutions);
    expect(done.body).toMatchObject({ imported: 3, skipped: 1, failed: 0 });
    expect(await given.routes()).toEqual([
      'alone.example.com 4002',
      'free.example.com 4004',
      'kept.example.com 9',
      'one.example.com 9',
      'two.example.com,new.example.com 4003',
    ]);
    const all = await given.hosts();
    // What is overwritten stays the same host, and what the file does not speak of as it was; also for a name that is taken out.
    expect(all[0]).toMatchObject({ uuid: alone.uuid, waf_enabled: false, websocket_support: true });
    expect(all[2]).toMatchObject({ uuid: kept.uuid });
    expect(all[3]).toMatchObject({ uuid: several.uuid });
    expect(all[4]).toMatchObject({ waf_inspect_responses: true });
    const back = await app.send('POST', `/history/batches/${done.body.batch}/revert`);
    expect(back.status, JSON.stringify(back.body)).toBe(200);
    expect(await given.routes()).toEqual([
      'alone.example.com 9',
      'kept.example.com 9',
      'one.example.com,two.example.com 9',
    ]);
  });

  test('one host in the place of several: what protects them has to be the same', async () => {
    await given.host({ domain: 'p.example.com' });
    await given.host({ domain: 'q.example.com' });
    const mixed = site('p.example.com, q.example.com', 4001);
    const first = await given.upload(mixed);
    expect((await given.commit(first.uuid, { 'p.example.com': 'overwrite', 'q.example.com': 'keep' })).status).toBe(
      400,
    );
    expect((await given.commit(first.uuid, { 'p.example.com,q.example.com': 'overwrite' })).body).toMatchObject({
      imported: 1,
    });
    expect(await given.routes()).toEqual(['p.example.com,q.example.com 4001']);

    await given.host({ domain: 'r.example.com', block_exploits: false });
    const second = await given.upload(site('p.example.com, r.example.com', 4002) + site('s.example.com', 4003));
    const done = await given.commit(second.uuid, { 'p.example.com': 'overwrite', 'r.example.com': 'overwrite' });
    expect(done.body).toMatchObject({ imported: 1, failed: 1 });
    expect(done.body.failures[0]?.message).toContain('protected differently');
    expect(await given.routes()).toEqual(['p.example.com,q.example.com 4001', 'r.example.com 9', 's.example.com 4003']);
  });
});
