import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Problem } from '../../../ui/problem.tsx';
import { useConfig, useStatus } from '../security/stored.ts';
import { FirewallPage } from './firewall-page.tsx';
import { FirewallState, isActing } from './firewall-state.tsx';
import { Judgement } from './judgement.tsx';

/** How the firewall judges requests, and whether it does. */
export const Firewall = () => {
  const { t } = useTranslation('firewall');
  const status = useStatus();
  const config = useConfig();
  return (
    <FirewallPage about={t('about')}>
      <Problem
        error={status.error ?? config.error}
        onRetry={() => void status.refetch().then(() => config.refetch())}
      />
      {status.data && config.data && (
        <Stack gap="md" maw={960}>
          <FirewallState status={status.data} />
          <Judgement answer={config.data} isActing={isActing(status.data)} />
        </Stack>
      )}
    </FirewallPage>
  );
};
