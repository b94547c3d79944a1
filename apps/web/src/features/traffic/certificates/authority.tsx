import { Alert, Button, Card, List, Stack, Text, Title } from '@mantine/core';
import type { InternalAuthority } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { MakeButton, MakeNextRoot, NextRoot } from './next-root.tsx';
import { RootFacts } from './root-facts.tsx';
import { CertificateTabs } from './tabs.tsx';

const WAYS = ['windows', 'mac', 'ios', 'android', 'linux', 'firefox'] as const;

/** The root of the internal authority, how devices come to trust it, and the one that is to follow. */
export const Authority = () => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const { data, error, refetch } = useRead<InternalAuthority>('/certificates/internal-ca', { retry: false });
  const isNone = error?.status === 404;
  return (
    <Page title={t('certificates.title')} about={t('authority.about')}>
      <CertificateTabs />
      {!isNone && <Problem error={error} onRetry={() => void refetch()} />}
      {isNone && (
        <Empty
          title={t('authority.none')}
          action={
            isAdmin && <Button onClick={() => void navigate('/certificates/order')}>{t('certificates.order')}</Button>
          }
        >
          {t('authority.noneAbout')}
        </Empty>
      )}
      {data && !isNone && (
        <Stack maw={820}>
          {data.issue !== null && (
            <Alert color="yellow" role="alert">
              <Stack gap="xs">
                <Text size="sm" className="foreign">
                  {data.issue}
                </Text>
                {isAdmin && !data.next && <MakeButton />}
              </Stack>
            </Alert>
          )}
          <Card withBorder>
            <RootFacts root={data} path="/certificates/internal-ca/root.pem" download={t('authority.download')} />
          </Card>
          {isAdmin && data.next && <NextRoot root={data.next} />}
          <Title order={2}>{t('authority.how')}</Title>
          <Text size="sm">{t('authority.compare')}</Text>
          <List size="sm" spacing="xs">
            {WAYS.map((way) => (
              <List.Item key={way}>{t(`authority.ways.${way}`)}</List.Item>
            ))}
          </List>
          {isAdmin && !data.next && data.issue === null && <MakeNextRoot />}
        </Stack>
      )}
    </Page>
  );
};
