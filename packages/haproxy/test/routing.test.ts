import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { givenHost } from '../../../test/support/haproxy/given.ts';
import { type Echo, type Origin, startEchoOrigin } from '../../../test/support/haproxy/origins.ts';
import { type RunningDataPlane, startDataPlane } from '../../../test/support/haproxy/start-data-plane.ts';
import { ask } from '../../../test/support/http-client.ts';

describe('routing', () => {
  let plane: RunningDataPlane;
  let one: Origin;
  let two: Origin;
  let six: Origin;

  beforeAll(async () => {
    [plane, one, two, six] = await Promise.all([
      startDataPlane(),
      startEchoOrigin('one'),
      startEchoOrigin('two'),
      startEchoOrigin('six', '::1'),
    ]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop(), six.stop()]);
    await plane.stop();
  });

  const whoAnswers = async (host: string): Promise<string> => {
    const answer = await ask({ port: plane.httpPort, host });
    return answer.status === 200 ? answer.json<Echo>().origin : String(answer.status);
  };

  test('a host is served as soon as it is applied, under each of its names', async () => {
    await plane.serve(givenHost({ names: ['a.example.com', 'b.example.com'], origin: one }));
    expect(await whoAnswers('a.example.com')).toBe('one');
    expect(await whoAnswers('b.example.com')).toBe('one');
    expect(await whoAnswers('B.EXAMPLE.COM:8080')).toBe('one');
    expect(await whoAnswers('b.example.com.')).toBe('one');
  });

  test('an exact name wins over a wildcard, which stands for one label', async () => {
    await plane.serve(
      givenHost({ names: ['*.wild.example.com'], origin: one }),
      givenHost({ names: ['exact.wild.example.com'], origin: two }),
    );
    expect(await whoAnswers('any.wild.example.com')).toBe('one');
    expect(await whoAnswers('exact.wild.example.com')).toBe('two');
    expect(await whoAnswers('wild.example.com')).toBe('404');
    expect(await whoAnswers('a.b.wild.example.com')).toBe('404');
  });

  test('when the exact host goes, the wildcard takes over; when it is switched off, nobody answers', async () => {
    const exact = givenHost({ names: ['x.gone.example.com'], origin: two });
    await plane.serve(givenHost({ names: ['*.gone.example.com'], origin: one }), exact);
    expect(await whoAnswers('x.gone.example.com')).toBe('two');
    await plane.serve({ ...exact, flags: { ...exact.flags, enabled: false } });
    expect(await whoAnswers('x.gone.example.com')).toBe('404');
    await plane.dataPlane.applyHosts([{ type: 'remove', id: exact.id }]);
    expect(await whoAnswers('x.gone.example.com')).toBe('one');
  });

  test('of a wildcard, too, a change wins over what the base has: another origin, or none', async () => {
    // So many names at once are folded into the base.
    const others = Array.from({ length: 600 }, (_, index) => `n${index}.based.example.com`);
    const host = givenHost({ names: ['*.based.example.com', ...others], origin: one });
    await plane.serve(host);
    expect(plane.dataPlane.status().overlayEntries).toBe(0);
    expect(await whoAnswers('any.based.example.com')).toBe('one');
    await plane.serve({ ...host, origin: { ...host.origin, port: two.port }, names: ['*.based.example.com'] });
    expect(await whoAnswers('any.based.example.com')).toBe('two');
    await plane.dataPlane.applyHosts([{ type: 'remove', id: host.id }]);
    expect(await whoAnswers('any.based.example.com')).toBe('404');
  });

  test('origins may be IPv6, and so may clients', async () => {
    await plane.serve(givenHost({ names: ['six.example.com'], origin: { ...six, address: '::1' } }));
    expect(await whoAnswers('six.example.com')).toBe('six');
    const answer = await ask({ port: plane.httpPort, host: 'six.example.com', address: '::1' });
    expect(answer.json<Echo>().headers['x-forwarded-for']).toBe('::1');
  });
});
