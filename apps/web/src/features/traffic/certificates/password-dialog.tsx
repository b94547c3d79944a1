import { Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';

interface PasswordDialogProps {
  /** On the button that opens it. */
  label: string;
  icon: ReactNode;
  title: string;
  about: string;
  /** On the button that does it. */
  submit: string;
  color?: 'red';
  /** Whether the password of who is signed in is asked for; default: yes. */
  isAsked?: boolean;
  /** In place of the form, where there is nothing to be done. */
  instead?: ReactNode;
  /** Does it; a rejection is shown and leaves the dialog open. */
  onSubmit: (password: string) => Promise<unknown>;
  /** It is closed: what was typed is to be forgotten. */
  onShut?: () => void;
  /** Whether one of the fields shows an error itself. */
  isShownByField?: (error: Error) => boolean;
  /** More fields. */
  children: (error: Error | undefined) => ReactNode;
}

/** A question that takes the password again, which is kept nowhere. */
export const PasswordDialog = ({ label, icon, title, about, submit, color, ...rest }: PasswordDialogProps) => {
  const { isAsked = true, instead, onSubmit, onShut, isShownByField = () => false, children } = rest;
  const { t } = useTranslation(['traffic', 'common']);
  const [isOpen, { open, close }] = useDisclosure();
  const [password, setPassword] = useState('');
  const [error, setError] = useState<Error>();
  const [isBusy, setBusy] = useState(false);
  const shut = () => {
    setPassword('');
    setError(undefined);
    onShut?.();
    close();
  };
  const send = async () => {
    setError(undefined);
    setBusy(true);
    try {
      await onSubmit(password);
      shut();
    } catch (failure) {
      setError(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  const form = (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        event.stopPropagation();
        void send();
      }}
    >
      <Stack>
        <Text size="sm">{about}</Text>
        {children(error)}
        {isAsked && (
          <PasswordInput
            label={t('certificates.password')}
            autoComplete="current-password"
            required
            data-autofocus
            value={password}
            onChange={({ currentTarget: { value } }) => setPassword(value)}
          />
        )}
        {error && !isShownByField(error) && (
          <Text size="sm" c="red" role="alert" className="foreign">
            {error.message}
          </Text>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={shut}>
            {t('common:cancel')}
          </Button>
          <Button type="submit" {...(color && { color })} loading={isBusy}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
  return (
    <>
      <Button variant="default" leftSection={icon} onClick={open}>
        {label}
      </Button>
      <Modal
        opened={isOpen}
        onClose={shut}
        title={title}
        centered
        closeButtonProps={{ 'aria-label': t('common:close') }}
      >
        {instead ?? form}
      </Modal>
    </>
  );
};
