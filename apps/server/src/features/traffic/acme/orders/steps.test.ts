import { expect, test } from 'vitest';
import { ACME_STEPS, createSteps } from './steps.ts';

const statuses = (steps: readonly { status: string }[]) => steps.map(({ status }) => status);

const given = () => {
  const saved: string[][] = [];
  const steps = createSteps(ACME_STEPS, async (all) => void saved.push(statuses(all)));
  return { steps, saved };
};

test('each step is stored when it begins; those before it are done, needed or not', async () => {
  const { steps, saved } = given();
  await steps.enter('account', 'with whom');
  await steps.enter('issue', 'asks');
  expect(saved).toEqual([
    ['done', 'running', 'waiting', 'waiting', 'waiting', 'waiting', 'waiting'],
    ['done', 'done', 'done', 'done', 'done', 'running', 'waiting'],
  ]);
  steps.finish('served');
  expect(new Set(statuses(steps.all()))).toEqual(new Set(['done']));
  expect(steps.all().at(-1)?.message).toBe('served');
});

test('what was under way failed, and what comes after it waits; a second round goes back', async () => {
  const { steps } = given();
  await steps.enter('validation', 'looks');
  await steps.enter('challenge', 'writes the next record');
  expect(statuses(steps.all())[4]).toBe('waiting');
  await steps.enter('validation', 'looks again');
  steps.fail('no');
  expect(statuses(steps.all())).toEqual(['done', 'done', 'done', 'done', 'failed', 'waiting', 'waiting']);
});

test('what fails before anything began is the first step', () => {
  const { steps } = given();
  steps.fail('at once');
  expect(steps.all()[0]).toMatchObject({ name: 'preflight', status: 'failed', message: 'at once' });
});

test('an attempt that is done has done every step, those that were not needed, too', async () => {
  const steps = createSteps(['preflight', 'issue', 'install'], async () => {});
  await steps.enter('issue', 'Asks for it.');
  expect(steps.finished('It is there.')).toEqual([
    { name: 'preflight', status: 'done', message: '' },
    { name: 'issue', status: 'done', message: 'Asks for it.' },
    { name: 'install', status: 'done', message: 'It is there.' },
  ]);
  // Told, and not done yet.
  expect(steps.all().map(({ status }) => status)).toEqual(['done', 'running', 'waiting']);
  steps.finish('It is served.');
  expect(steps.all().at(-1)).toEqual({ name: 'install', status: 'done', message: 'It is served.' });
  expect(steps.all().every(({ status }) => status === 'done')).toBe(true);
});
