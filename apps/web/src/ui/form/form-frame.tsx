import { Fieldset, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Problem } from '../problem.tsx';
import { OvertakenAlert } from './overtaken-alert.tsx';
import { leaveAgreed } from './unsaved.ts';
import type { ObjectForm } from './use-object-form.ts';

interface FormFrameProps<T extends Record<string, unknown>> {
  object: ObjectForm<T>;
  /** Called when it was saved. */
  onSaved: () => void;
  /** Gives up what was typed for what another one saved. */
  onTakeTheirs: () => void;
  isReadOnly: boolean;
  /** Between the fields and what went wrong. */
  below?: ReactNode;
  /** What submits it. */
  buttons: ReactNode;
  /** Its fields. */
  children: ReactNode;
}

/** What each form of an object has: its fields, what came in between, what went wrong, and its buttons. */
export const FormFrame = <T extends Record<string, unknown>>(props: FormFrameProps<T>) => {
  const { object, onSaved, onTakeTheirs, isReadOnly, below, buttons, children } = props;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void object.submit().then((isSaved) => isSaved && onSaved());
      }}
    >
      <Stack gap="md">
        <OvertakenAlert object={object} onTakeTheirs={() => void leaveAgreed(onTakeTheirs)} />
        <Fieldset variant="unstyled" mx={0} disabled={isReadOnly}>
          <Stack gap="md">{children}</Stack>
        </Fieldset>
        {below}
        <Problem error={object.problem} />
        {buttons}
      </Stack>
    </form>
  );
};
