import { Button, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useWho } from '../../../app/who.ts';
import { IconBell } from '../../../ui/icons.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { ApiAccess } from './api-access.tsx';
import { BreakGlass } from './break-glass.tsx';
import { LockOut } from './lock-out.tsx';
import { Modules } from './modules.tsx';
import { RateLimit } from './rate-limit.tsx';
import { useConfig, useStatus } from './stored.ts';
import { Suite } from './suite.tsx';

/** The security suite: its switches, what they do, and what keeps its administrators from locking themselves out. */
export const Security = () => {
  const { t } = useTranslation('protection');
  const { isAdmin } = useWho();
  const status = useStatus();
  const config = useConfig();
  const more = (
    <Button component={Link} to="/security/notifications" variant="default" leftSection={<IconBell size={16} />}>
      {t('security.toNotifications')}
    </Button>
  );
  return (
    <Page title={t('security.title')} about={t('security.about')} actions={more}>
      <Problem
        error={status.error ?? config.error}
        onRetry={() => void status.refetch().then(() => config.refetch())}
      />
      {status.data && config.data && (
        <Stack gap="md" maw={960}>
          <Suite status={status.data} />
          <Modules status={status.data} />
          <LockOut answer={config.data} isActing={status.data.enabled} />
          {isAdmin && <BreakGlass />}
          <RateLimit answer={config.data} isActing={status.data.enabled && status.data.rate_limit.enabled} />
          {isAdmin && <ApiAccess />}
        </Stack>
      )}
    </Page>
  );
};
