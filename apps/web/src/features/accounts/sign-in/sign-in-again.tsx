import { Anchor, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient } from '../../../api/query.ts';
import { askWho } from '../../../api/session.ts';
import { CredentialsForm } from './credentials-form.tsx';

/** Above the drawers and dialogs that are open. */
const ABOVE_ALL = 1_000;

/** Over the screen that one was at when the session ended: what was typed there stays. `elsewhere`: where others sign in. */
export const SignInAgain = ({ email, elsewhere }: { email: string; elsewhere: string }) => {
  const { t } = useTranslation('accounts');
  // It comes and goes as a whole, so that the dialog itself has no moment in which to give the focus back.
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    },
    [before],
  );
  const goOn = async () => {
    await askWho();
    void queryClient.invalidateQueries();
  };
  return (
    <Modal
      opened
      onClose={() => {}}
      title={t('signIn.ended')}
      withCloseButton={false}
      closeOnEscape={false}
      closeOnClickOutside={false}
      zIndex={ABOVE_ALL}
    >
      <Stack>
        <Text size="sm">{t('signIn.endedAbout')}</Text>
        <CredentialsForm of={email} onSignedIn={goOn} />
        <Anchor href={elsewhere} size="sm">
          {t('signIn.somebodyElse')}
        </Anchor>
      </Stack>
    </Modal>
  );
};
