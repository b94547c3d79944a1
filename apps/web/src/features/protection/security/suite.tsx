import { Alert, Button, Group, Modal, PasswordInput, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { SecurityStatus } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconAlertTriangle } from '../../../ui/icons.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { CONFIRM_SECONDS, TOUCHED } from './stored.ts';

/** Asks before the suite is switched off, and for the token that this takes from elsewhere. */
const SwitchOff = ({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) => {
  const { t } = useTranslation(['protection', 'common']);
  const [token, setToken] = useState('');
  const { mutate, isPending, error, reset } = useChange(TOUCHED);
  const close = () => {
    setToken('');
    reset();
    onClose();
  };
  const switchOff = () =>
    mutate(
      { method: 'POST', path: '/security/disable', body: token === '' ? {} : { break_glass_token: token.trim() } },
      {
        onSuccess: () => {
          notifyDone(t('security.disabled'));
          close();
        },
      },
    );
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={t('security.disable')}
      centered
      closeButtonProps={{ 'aria-label': t('common:close') }}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          switchOff();
        }}
      >
        <Stack>
          <Text size="sm">{t('security.disableAbout')}</Text>
          <PasswordInput
            label={t('security.disableToken')}
            description={t('security.disableTokenAbout')}
            autoComplete="off"
            value={token}
            onChange={({ currentTarget }) => setToken(currentTarget.value)}
          />
          <Problem error={error} />
          <Group justify="flex-end">
            <Button variant="default" onClick={close}>
              {t('common:cancel')}
            </Button>
            <Button type="submit" color="red" loading={isPending}>
              {t('security.disable')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
};

/** The master switch, and whether what is configured is enforced. */
export const Suite = ({ status }: { status: SecurityStatus }) => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const [isOpen, { open, close }] = useDisclosure();
  const { mutate, isPending, error } = useChange(TOUCHED);
  const switchOn = () =>
    mutate(
      { method: 'POST', path: '/security/enable', body: {}, query: { confirm_within: CONFIRM_SECONDS } },
      { onSuccess: () => notifyDone(t('security.enabled')) },
    );
  return (
    <Panel
      title={t('security.suite')}
      about={t('security.suiteAbout')}
      aside={
        <Group gap="xs">
          <StateBadge kind={status.enabled ? 'good' : 'off'}>
            {t(status.enabled ? 'security.on' : 'security.off')}
          </StateBadge>
          {status.enabled && (
            <StateBadge kind={status.applied ? 'good' : 'bad'} why={status.issue}>
              {t(status.applied ? 'security.enforced' : 'security.notEnforced')}
            </StateBadge>
          )}
        </Group>
      }
    >
      {status.issue !== null && (
        <Alert color={status.applied ? 'yellow' : 'red'} icon={<IconAlertTriangle />}>
          <span className="foreign">{status.issue}</span>
        </Alert>
      )}
      <Problem error={error} />
      {isAdmin && (
        <Group>
          {status.enabled ? (
            <Button variant="default" onClick={open}>
              {t('security.disable')}
            </Button>
          ) : (
            <Button loading={isPending} onClick={switchOn}>
              {t('security.enable')}
            </Button>
          )}
          <Text size="xs" c="dimmed" flex="1 1 14rem">
            {t('security.guarded')}
          </Text>
        </Group>
      )}
      <SwitchOff isOpen={isOpen} onClose={close} />
    </Panel>
  );
};
