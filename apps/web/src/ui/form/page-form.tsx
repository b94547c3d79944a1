import { Button, Fieldset, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../problem.tsx';
import { OvertakenAlert } from './overtaken-alert.tsx';
import type { ObjectForm } from './use-object-form.ts';

interface PageFormProps<T extends Record<string, unknown>> {
  object: ObjectForm<T> & { takeTheirs: () => void };
  /** Called when it was saved. */
  onSaved: () => void;
  isReadOnly?: boolean;
  /** More buttons, beside the one that saves. */
  more?: ReactNode;
  children: ReactNode;
}

/** A form that stands on a page: what was typed is saved or discarded, and nothing else. */
export const PageForm = <T extends Record<string, unknown>>(props: PageFormProps<T>) => {
  const { object, onSaved, isReadOnly = false, more, children } = props;
  const { form, problem, overtaken, isSaving, submit, takeTheirs } = object;
  const { t } = useTranslation();
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit().then((isSaved) => isSaved && onSaved());
      }}
    >
      <Stack gap="md">
        <OvertakenAlert object={object} onTakeTheirs={takeTheirs} />
        <Fieldset variant="unstyled" disabled={isReadOnly}>
          <Stack gap="md">{children}</Stack>
        </Fieldset>
        <Problem error={problem} />
        {!isReadOnly && (
          <Group gap="xs">
            <Button type="submit" loading={isSaving} disabled={!form.isDirty() || overtaken !== undefined}>
              {t('save')}
            </Button>
            {form.isDirty() && (
              <Button variant="default" onClick={() => form.reset()}>
                {t('discard')}
              </Button>
            )}
            {more}
          </Group>
        )}
      </Stack>
    </form>
  );
};
