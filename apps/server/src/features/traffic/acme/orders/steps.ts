import type { CertificateStep } from '@sallyport/contract';

export type StepName = CertificateStep['name'];

export const ACME_STEPS: readonly StepName[] = [
  'preflight',
  'account',
  'order',
  'challenge',
  'validation',
  'issue',
  'install',
];
export const INTERNAL_STEPS: readonly StepName[] = ['issue', 'install'];

/** Steps of an attempt that has not begun. */
export const waitingSteps = (names: readonly StepName[]): CertificateStep[] =>
  names.map((name) => ({ name, status: 'waiting', message: '' }));

/** How far an attempt is. Each change is told to `save` before it goes on. */
export const createSteps = (names: readonly StepName[], save: (steps: readonly CertificateStep[]) => Promise<void>) => {
  const steps = waitingSteps(names);
  const running = (): CertificateStep | undefined => steps.find(({ status }) => status === 'running');

  return {
    all: (): readonly CertificateStep[] => steps,

    /** What was under way is done, as are those that were not needed; `name` is under way from now on. */
    async enter(name: StepName, message: string): Promise<void> {
      const at = steps.findIndex((step) => step.name === name);
      for (const [index, step] of steps.entries()) {
        if (index < at && step.status !== 'done') step.status = 'done';
        else if (index === at) Object.assign(step, { status: 'running', message });
        else if (step.status === 'running') step.status = 'waiting';
      }
      await save(steps);
    },

    /** As they are once everything is done. */
    finished: (message: string): CertificateStep[] =>
      steps.map((step, index) => ({
        ...step,
        status: 'done',
        ...(index === steps.length - 1 ? { message } : {}),
      })),

    /** Everything is done. */
    finish(message: string): void {
      for (const step of steps) step.status = 'done';
      const last = steps.at(-1);
      if (last) last.message = message;
    },

    /** What was under way failed. */
    fail(message: string): void {
      const step = running() ?? steps.find(({ status }) => status === 'waiting');
      if (step) Object.assign(step, { status: 'failed', message });
    },
  };
};
export type Steps = ReturnType<typeof createSteps>;
