import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Confirm } from './confirm.tsx';

interface DeleteButtonProps {
  /** The question. */
  title: string;
  /** What goes with it, and whether it comes back. */
  children: ReactNode;
  /** Does it; a rejection is shown and leaves the question open. */
  onDelete: () => Promise<unknown>;
}

/** Deletes what is open, after a question. It stands apart from the buttons that save. */
export const DeleteButton = ({ title, children, onDelete }: DeleteButtonProps) => {
  const { t } = useTranslation();
  return (
    <Confirm
      title={title}
      action={t('delete')}
      onConfirm={onDelete}
      trigger={(open) => (
        <Button variant="subtle" color="red" mr="auto" onClick={open}>
          {t('delete')}
        </Button>
      )}
    >
      {children}
    </Confirm>
  );
};
