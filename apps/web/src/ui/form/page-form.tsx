import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { FormFrame } from './form-frame.tsx';
import type { ObjectForm } from './use-object-form.ts';

interface PageFormProps<T extends Record<string, unknown>> {
  object: ObjectForm<T> & { takeTheirs: () => void };
  /** Called when it was saved. */
  onSaved: () => void;
  /** The word on the button. Default: save. */
  action?: string | undefined;
  isReadOnly?: boolean;
  /** More buttons, beside the one that saves. */
  more?: ReactNode;
  children: ReactNode;
}

/** A form that stands on a page: what was typed is saved or discarded, and nothing else. */
export const PageForm = <T extends Record<string, unknown>>(props: PageFormProps<T>) => {
  const { object, onSaved, action, isReadOnly = false, more, children } = props;
  const { form, overtaken, isSaving, takeTheirs } = object;
  const { t } = useTranslation();
  const buttons = !isReadOnly && (
    <Group gap="xs">
      <Button type="submit" loading={isSaving} disabled={!form.isDirty() || overtaken !== undefined}>
        {action ?? t('save')}
      </Button>
      {form.isDirty() && (
        <Button variant="default" onClick={() => form.reset()}>
          {t('discard')}
        </Button>
      )}
      {more}
    </Group>
  );
  return (
    <FormFrame object={object} onSaved={onSaved} onTakeTheirs={takeTheirs} isReadOnly={isReadOnly} buttons={buttons}>
      {children}
    </FormFrame>
  );
};
