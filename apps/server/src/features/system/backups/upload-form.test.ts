import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import multipart from '@fastify/multipart';
import { type Draft, discard, openDraft } from '@sallyport/backup/shelf/files';
import { Refusal } from '@sallyport/store/errors';
import fastify from 'fastify';
import { expect, test } from 'vitest';
import { withTemporaryDirectory } from '../../../../../../test/support/temporary-directory.ts';
import { receiveUpload } from './upload-form.ts';

const BOUNDARY = 'of-this-test';

/** One part of a form as it is sent. */
const part = (name: string, content: string, more = '') =>
  `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n${content}\r\n`;
const file = (content: string, name = 'file') => part(name, content, '; filename="../../etc/passwd"');
const END = `--${BOUNDARY}--\r\n`;

interface Answer {
  status?: number;
  error?: string;
  sha256?: string;
  passphrase?: string;
  content?: string;
}

/** Gives work what is answered to a form, and what lies in the directory then; `opens`: how a draft is opened. */
const withForms = (
  work: (send: (body: string, type?: string) => Promise<Answer>, left: () => string[]) => Promise<void>,
  opens: (directory: string) => Promise<Draft> = openDraft,
): Promise<void> =>
  withTemporaryDirectory(async (directory) => {
    const app = fastify();
    await app.register(multipart);
    app.post('/', async (request): Promise<Answer> => {
      try {
        const { draft, ...received } = await receiveUpload(request, () => opens(directory));
        const content = readFileSync(draft.path, 'latin1');
        await discard(draft);
        return { ...received, content } as Answer;
      } catch (error) {
        if (!(error instanceof Refusal)) return { error: (error as Error).message };
        return { status: error.status, error: `${error.message} ${error.details}` };
      }
    });
    const send = async (payload: string, type = `multipart/form-data; boundary=${BOUNDARY}`): Promise<Answer> =>
      (await app.inject({ method: 'POST', url: '/', headers: { 'content-type': type }, payload })).json();
    try {
      await work(send, () => readdirSync(directory));
    } finally {
      await app.close();
    }
  });

test('a file comes to disk as it is, with its digest; a passphrase that is empty is none, wherever it stands', () =>
  withForms(async (send, left) => {
    const content = `two\r\n--lines ${'x'.repeat(200_000)}`;
    const sha256 = createHash('sha256').update(content).digest('hex');
    expect(await send(file(content) + END)).toEqual({ sha256, content });
    expect(await send(part('passphrase', 'p q') + file(content) + END)).toEqual({ sha256, content, passphrase: 'p q' });
    expect(await send(file(content) + part('passphrase', 'p q') + END)).toMatchObject({ passphrase: 'p q' });
    const long = 'p'.repeat(4_000);
    expect(await send(part('passphrase', long) + file(content) + END)).toMatchObject({ passphrase: long });
    expect(await send(part('passphrase', '') + file(content) + END)).toEqual({ sha256, content });
    expect(left()).toEqual([]);
  }));

test('what is no such form is refused by name, and nothing is left of it', () =>
  withForms(async (send, left) => {
    const [content, known] = ['x'.repeat(100_000), 'is not a known field known fields: file, passphrase'];
    for (const [body, status, error] of [
      [END, 400, 'file is required'],
      [part('passphrase', 'p') + END, 400, 'file is required'],
      [file(content) + part('other', 'p') + END, 400, `other ${known}`],
      [file(content) + part('file', 'p') + END, 400, 'file must be a file'],
      [file(content, 'passphrase') + END, 400, 'passphrase must be a text'],
      [part('passphrase', 'p'.repeat(4_097)) + file(content) + END, 400, 'passphrase must be at most 4096 bytes long'],
      [file(content, 'other') + END, 400, `other ${known}`],
      [file(content) + file(content) + END, 413, 'more parts than allowed'],
      [part('passphrase', 'p').repeat(3) + file(content) + END, 413, 'more parts than allowed'],
      [file(content), 400, 'valid multipart form'],
      [part('__proto__', 'p') + file(content) + END, 400, ''],
    ] as const) {
      const answer = await send(body);
      expect(answer, `${body.length} bytes`).toMatchObject({ status, error: expect.stringContaining(error) });
      expect(left()).toEqual([]);
    }
    expect(await send('{}', 'application/x-www-form-urlencoded')).not.toHaveProperty('sha256');
    expect(left()).toEqual([]);
  }));

test('a disk that is full is no fault of the form, and nothing is left then either', () =>
  withForms(
    async (send, left) => {
      const answer = await send(`${file('x'.repeat(100_000))}${END}`);
      expect(answer).toEqual({ error: expect.stringContaining('EBADF') });
      expect(left()).toEqual([]);
    },
    async (directory) => {
      // Open for reading, it takes nothing, and says so as a full disk does: by a code of the system.
      const { path, file: written } = await openDraft(directory);
      await written.close();
      return { path, file: await open(path, 'r') };
    },
  ));
