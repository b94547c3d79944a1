import { Stack } from '@mantine/core';
import type { CrowdsecStatus } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { Problem } from '../../../ui/problem.tsx';
import { useConfig, useStatus } from '../security/stored.ts';
import { Always } from './always.tsx';
import { CrowdsecPage } from './crowdsec-page.tsx';
import { Facts } from './facts.tsx';
import { Install } from './install.tsx';
import { Running } from './running.tsx';

const EVERY_MS = 2_000;

/** Whether CrowdSec runs, and what it does. */
export const Crowdsec = () => {
  const { t } = useTranslation('crowdsec');
  const { data, error, refetch } = useRead<CrowdsecStatus>('/admin/crowdsec/status', { everyMs: EVERY_MS });
  const suite = useStatus();
  const config = useConfig();
  return (
    <CrowdsecPage about={t('about')}>
      <Problem
        error={error ?? suite.error ?? config.error}
        onRetry={() => void Promise.all([refetch(), suite.refetch(), config.refetch()])}
      />
      {data?.status === 'not_installed' && <Install />}
      {data && data.status !== 'not_installed' && (
        <Stack gap="md" maw={960}>
          <Running status={data}>
            {suite.data && <Always suite={suite.data} mode={config.data?.data.config?.crowdsec_mode} />}
          </Running>
          <Facts status={data} />
        </Stack>
      )}
    </CrowdsecPage>
  );
};
