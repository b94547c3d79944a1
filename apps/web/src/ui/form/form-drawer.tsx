import { Button, Drawer, Fieldset, Group, Stack } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../problem.tsx';
import { OvertakenAlert } from './overtaken-alert.tsx';
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
  const { form, problem, overtaken, isSaving, submit } = object;
  const { t } = useTranslation();
  const isNarrow = useMediaQuery('(max-width: 48em)');
  const close = () => {
    if (form.isDirty() && !window.confirm(t('loseTyping'))) return;
    onClose();
  };
  return (
    <Drawer
      opened={isOpen}
      onClose={close}
      title={title}
      position="right"
      size={isNarrow ? '100%' : 'lg'}
      overlayProps={{ backgroundOpacity: 0.25 }}
      closeButtonProps={{ 'aria-label': t('close') }}
    >
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit().then((isSaved) => isSaved && onSaved());
        }}
      >
        <Stack gap="md">
          <OvertakenAlert object={object} onTakeTheirs={onClose} />
          <Fieldset variant="unstyled" disabled={isReadOnly}>
            <Stack gap="md">{children}</Stack>
          </Fieldset>
          {below}
          <Problem error={problem} />
          <Group
            justify="flex-end"
            gap="xs"
            pos="sticky"
            bottom={0}
            py="sm"
            bg="var(--mantine-color-body)"
            className="above"
          >
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
        </Stack>
      </form>
    </Drawer>
  );
};
