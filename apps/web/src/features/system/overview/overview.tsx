import { Loader, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Attention } from './attention.tsx';
import { Checklist } from './checklist.tsx';
import { Counters } from './counters.tsx';
import { useFacts } from './facts.ts';
import { judge } from './judge.ts';
import { Refusals } from './refusals.tsx';
import { Standings } from './standings.tsx';
import { Traffic } from './traffic/traffic.tsx';

/** Is everything all right? And where not: why, and where to go about it. */
export const Overview = () => {
  const { t } = useTranslation(['system', 'common']);
  const { isAdmin } = useWho();
  const facts = useFacts(isAdmin);
  const standings = judge(t, facts);
  const wrong = standings.filter(({ kind }) => kind === 'bad').length;
  const doubtful = standings.filter(({ kind }) => kind === 'warning').length;
  const about = (): string => {
    if (facts.error) return t('overview.unknown');
    if (wrong > 0) return t('overview.wrong', { count: wrong });
    return doubtful > 0 ? t('overview.doubtful', { count: doubtful }) : t('overview.well');
  };
  const isRead = facts.hosts !== undefined && facts.security !== undefined && facts.health !== undefined;
  return (
    <Page title={t('overview.title')} {...(isRead || facts.error ? { about: about() } : {})}>
      <Problem error={facts.error} onRetry={() => void facts.refetch()} />
      {standings.length === 0 && !facts.error && <Loader aria-label={t('common:loading')} />}
      <Stack gap="xl">
        {isAdmin && <Checklist facts={facts} />}
        <Standings all={standings} />
        <Attention hosts={facts.hosts} certificates={facts.certificates} />
        <Traffic />
        {facts.blocks && facts.refusals && <Refusals blocks={facts.blocks} statistics={facts.refusals} />}
        <Counters />
      </Stack>
    </Page>
  );
};
