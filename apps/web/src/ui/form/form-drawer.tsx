import { Button, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Side } from '../side.tsx';
import { FormFrame } from './form-frame.tsx';
import { leaveAgreed } from './unsaved.ts';
import type { ObjectForm } from './use-object-form.ts';

interface FormDrawerProps<T extends Record<string, unknown>> {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  /** Called when it was saved. */
  onSaved: () => void;
  object: ObjectForm<T>;
  /** The word on the button. Default: save. */
  action?: string;
  /** Whether the reader may look only. */
  isReadOnly?: boolean;
  /** Below the fields: also for those who may look only. */
  below?: ReactNode;
  /** More buttons, left of it. */
  more?: ReactNode;
  children: ReactNode;
}

/** The form of an object, beside the list it belongs to. Closing it asks when something typed would be lost. */
export const FormDrawer = <T extends Record<string, unknown>>(props: FormDrawerProps<T>) => {
  const { title, isOpen, onClose, onSaved, object, action, isReadOnly = false, below, more, children } = props;
  const { form, overtaken, isSaving } = object;
  const { t } = useTranslation();
  const close = () => {
    if (form.isDirty() && !window.confirm(t('loseTyping'))) return;
    void leaveAgreed(onClose);
  };
  const buttons = (
    <Group justify="flex-end" gap="xs" pos="sticky" bottom={0} py="sm" bg="var(--mantine-color-body)" className="above">
      {more}
      <Button variant="default" onClick={close}>
        {t('cancel')}
      </Button>
      {!isReadOnly && (
        <Button type="submit" loading={isSaving} disabled={overtaken !== undefined}>
          {action ?? t('save')}
        </Button>
      )}
    </Group>
  );
  return (
    <Side title={title} isOpen={isOpen} onClose={close}>
      <FormFrame
        object={object}
        onSaved={onSaved}
        onTakeTheirs={onClose}
        isReadOnly={isReadOnly}
        below={below}
        buttons={buttons}
      >
        {children}
      </FormFrame>
    </Side>
  );
};
