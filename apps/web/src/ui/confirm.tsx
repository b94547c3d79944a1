import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { leaveAgreed } from './form/unsaved.ts';
import { Problem } from './problem.tsx';

interface ConfirmProps {
  title: string;
  /** What will happen, and what can't be taken back. */
  children: ReactNode;
  /** The word on the button that does it. */
  action: string;
  /** Does it; a rejection is shown and leaves the question open. */
  onConfirm: () => Promise<unknown>;
  trigger: (open: () => void) => ReactNode;
}

/** Asks before what can not be undone. What can be undone is done at once, with a way back. */
export const Confirm = ({ title, children, action, onConfirm, trigger }: ConfirmProps) => {
  const { t } = useTranslation();
  const [isOpen, { open, close }] = useDisclosure();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const confirm = async () => {
    setBusy(true);
    setError(undefined);
    try {
      await leaveAgreed(onConfirm);
      close();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      {trigger(open)}
      <Modal opened={isOpen} onClose={close} title={title} centered closeButtonProps={{ 'aria-label': t('close') }}>
        <Stack>
          <Text size="sm" component="div">
            {children}
          </Text>
          <Problem error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close} data-autofocus>
              {t('cancel')}
            </Button>
            <Button color="red" loading={isBusy} onClick={() => void confirm()}>
              {action}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  );
};
