import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../test/support/temporary-directory.ts';
import { type AdminSocket, createAdminSocket } from './admin-socket.ts';
import { createCertificateCommands } from './certificates.ts';
import { createMapCommands } from './maps.ts';
import { readProcessInfo } from './process-info.ts';
import { RuntimeRefused, RuntimeUnavailable } from './runtime-errors.ts';
import { readTrafficCounters } from './traffic-counters.ts';

/** What is asked at a socket that gives these answers, one after the other, as HAProxy 2.6 words them or as a broken one might. */
const asked = (answers: string[], ask: (socket: AdminSocket) => Promise<void>): Promise<string[]> =>
  withTemporaryDirectory(async (directory) => {
    const commands: string[] = [];
    const server = createServer((socket) =>
      socket.once('data', (bytes) => {
        commands.push(String(bytes));
        socket.end(answers.shift() ?? '');
      }),
    );
    const path = join(directory, 'socket');
    await once(server.listen(path), 'listening');
    try {
      await ask(createAdminSocket({ path, maxReplyBytes: 200 }));
    } finally {
      server.close();
    }
    return commands;
  });

const rejects = async (answer: string, ask: (socket: AdminSocket) => Promise<unknown>, kind: typeof RuntimeRefused) => {
  await asked([answer], (socket) => expect(ask(socket)).rejects.toThrow(kind));
};

describe('a list', () => {
  const entries = async (socket: AdminSocket) => {
    const seen: string[] = [];
    await createMapCommands(socket, 'm').forEach((key, value) => {
      seen.push(`${key}=${value}`);
    });
    return seen;
  };

  test('is taken whole', () =>
    asked(['0x1 a 1 2\n0x2 b 3\n\n', '\n'], async (socket) => {
      expect(await entries(socket)).toEqual(['a=1 2', 'b=3']);
      expect(await entries(socket)).toEqual([]);
    }));

  test.each(['', '0x1 a 1', '0x1 a 1\n', '0x1 a 1\n0x2 b', '0x1 a 1\n0x2 '])(
    'that is cut off is none: %j',
    async (answer) => {
      await asked([answer], (socket) => expect(entries(socket)).rejects.toThrow(RuntimeUnavailable));
    },
  );

  test.each(['Unknown map identifier. Please use #<id> or <file>.\n\n', '0x1\n\n', '0x1 a\n\n', 'a 1 2\n\n'])(
    'that is refused, or has other lines, is told to who asks: %j',
    (answer) => rejects(answer, entries, RuntimeRefused),
  );
});

describe('a map', () => {
  test('is asked and changed by one command each, and replaced by a version', async () => {
    const commands = await asked(
      [
        '\n',
        '\n',
        '\n',
        'type=map, found=yes, value="1 x"\n\n',
        'type=map, found=no\n\n',
        'New version created: 7\n\n',
      ].concat(Array(3).fill('\n')),
      async (socket) => {
        const map = createMapCommands(socket, 'm');
        await map.add('a', '1');
        await map.set('a', '2');
        await map.remove('a');
        expect(await map.get('a')).toBe('1 x');
        expect(await map.get('b')).toBeUndefined();
        await map.replace(
          ['ab', 'cd', 'ef'].map((key) => [key, '1'] as const),
          { payloadBytes: 10 },
        );
      },
    );
    expect(commands).toEqual([
      'add map m a 1\n',
      'set map m a 2\n',
      'del map m a\n',
      'get map m a\n',
      'get map m b\n',
      'prepare map m\n',
      'add map @7 m <<\nab 1\ncd 1\n\n',
      'add map @7 m <<\nef 1\n\n',
      'commit map @7 m\n',
    ]);
  });

  test('whose change is refused was not changed', async () => {
    const steps: ((map: ReturnType<typeof createMapCommands>) => Promise<unknown>)[] = [
      (map) => map.add('a', '1'),
      (map) => map.set('a', '1'),
      (map) => map.remove('a'),
      (map) => map.get('a'),
      (map) => map.replace([], { payloadBytes: 10 }),
    ];
    for (const step of steps)
      await rejects('Unknown map.\n\n', (socket) => step(createMapCommands(socket, 'm')), RuntimeRefused);
    const replace = (socket: AdminSocket) => createMapCommands(socket, 'm').replace([['a', '1']], { payloadBytes: 10 });
    for (const after of [['No such version.\n\n'], ['\n', 'Version gone.\n\n']]) {
      const answers = ['New version created: 7\n\n', ...after];
      await asked(answers, (socket) => expect(replace(socket)).rejects.toThrow(RuntimeRefused));
      expect(answers).toEqual([]);
    }
  });
});

describe('a certificate', () => {
  const pem = 'a\n\nb\n';

  test('that HAProxy refuses leaves neither a transaction nor an empty store', async () => {
    for (const [created, ...removed] of [
      ["New empty certificate store 's'!\n\n", 'abort ssl cert s\n', 'del ssl cert s\n'],
      ["Certificate 's' already exists!\n\n", 'abort ssl cert s\n'],
    ]) {
      const commands = await asked([created ?? '', 'unable to load\n\n', '\n', '\n'], async (socket) => {
        await expect(createCertificateCommands(socket, 'l').put('s', pem)).rejects.toThrow(RuntimeRefused);
      });
      expect(commands).toEqual(['new ssl cert s\n', 'set ssl cert s <<\na\nb\n\n', ...removed]);
    }
  });

  test('that there is no room for is not set', async () => {
    const commands = await asked(['out of memory\n\n'], async (socket) => {
      await expect(createCertificateCommands(socket, 'l').put('s', pem)).rejects.toThrow(RuntimeRefused);
    });
    expect(commands).toEqual(['new ssl cert s\n']);
  });

  test('is told by its fingerprint, stores without what was only begun, lines with their number and names', async () => {
    const fingerprint = '0123456789ABCDEF0123456789ABCDEF01234567';
    await asked(
      [
        `Filename: s\nSHA1 FingerPrint: ${fingerprint}\n\n`,
        'Filename: s\nStatus: Empty\n\n',
        '# transaction\n*t.pem\n# filename\ns.pem\n\n',
        '# l\ns.pem:3 [alpn http/1.1] a.test *.b.test\ns.pem:4\ns.pem:5 [alpn h2,http/1.1] c.test\n\n',
      ],
      async (socket) => {
        const commands = createCertificateCommands(socket, 'l');
        expect(await commands.fingerprint('s')).toBe(fingerprint);
        expect(await commands.fingerprint('s')).toBeUndefined();
        expect(await commands.stores()).toEqual(['s.pem']);
        expect(await commands.lines()).toEqual([
          { store: 's.pem', number: 3, isHttp1Only: true, names: ['a.test', '*.b.test'] },
          { store: 's.pem', number: 4, isHttp1Only: false, names: [] },
          { store: 's.pem', number: 5, isHttp1Only: false, names: ['c.test'] },
        ]);
      },
    );
  });

  test('list that HAProxy does not know is refused', () =>
    rejects(
      "didn't find the specified filename\n\n",
      (socket) => createCertificateCommands(socket, 'l').lines(),
      RuntimeRefused,
    ));
});

test('a process without a number or a version is none', async () => {
  await asked(['Name: HAProxy\nVersion: 2.6\nPid: 7\nUptime_sec: 3\n\n'], async (socket) => {
    const { values, ...info } = await readProcessInfo(socket);
    expect(info).toEqual({ version: '2.6', pid: 7, uptimeSec: 3 });
    expect(values.get('Name')).toBe('HAProxy');
  });
  for (const answer of ['Version: 2.6\n\n', 'Pid: 7\n\n', 'Version: 2.6\nPid: x\n\n', '\n'])
    await rejects(answer, readProcessInfo, RuntimeRefused);
});

test('an answer that is longer than may be kept is given up', () =>
  asked(['a'.repeat(200), 'a'.repeat(201)], async (socket) => {
    expect(await socket.ask({ words: ['x'] })).toHaveLength(200);
    await expect(socket.ask({ words: ['x'] })).rejects.toThrow('answer over 200 bytes');
  }));

describe('what was counted', () => {
  const csv =
    '# pxname,svname,bin,bout,hrsp_1xx,hrsp_2xx,hrsp_3xx,hrsp_4xx,hrsp_5xx,hrsp_other,\nproxy,FRONTEND,1,2,3,4,5,6,7,8,\n';
  const info = (...more: string[]) => ['Version: 3.0', 'Pid: 9', ...more, '', ''].join('\n');
  const counters = {
    bytesIn: 1,
    bytesOut: 2,
    requests: { '1xx': 3, '2xx': 4, '3xx': 5, '4xx': 6, '5xx': 7, other: 8 },
  };

  test('is of the process that says so before and after', async () => {
    const started = info('Start_time_sec: 1700000000');
    const commands = await asked([started, csv, started], async (socket) => {
      const startedAt = new Date('2023-11-14T22:13:20Z');
      expect(await readTrafficCounters(socket)).toEqual({ process: '9@1700000000', startedAt, counters });
    });
    expect(commands).toEqual(['show info\n', 'show stat -1 3 -1\n', 'show info\n']);
  });

  test('is of a process known by its number where it does not say when it was started', async () => {
    const started = info('Uptime_sec: 60');
    await asked([started, csv, started], async (socket) => {
      const { process: name, startedAt } = await readTrafficCounters(socket);
      expect(name).toBe('9');
      expect(Math.floor((Date.now() - startedAt.getTime()) / 60_000)).toBe(1);
    });
  });

  test.each([
    ['another one', info('Start_time_sec: 1700000000').replace('9', '8')],
    ['another one of that number', info('Start_time_sec: 1700000001')],
  ])('is of nobody where %s answers in the end', async (_what, after) => {
    await asked([info('Start_time_sec: 1700000000'), csv, after], (socket) =>
      expect(readTrafficCounters(socket)).rejects.toThrow(RuntimeUnavailable),
    );
  });
});
