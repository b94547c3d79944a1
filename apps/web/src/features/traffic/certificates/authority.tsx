import { Alert, Button, Card, List, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { InternalAuthority } from '@sallyport/contract';
import { IconDownload } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { urlOf } from '../../../api/client.ts';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { formatMoment } from '../../../i18n/formats.ts';
import { Empty } from '../../../ui/empty.tsx';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { CertificateTabs } from './tabs.tsx';

const WAYS = ['windows', 'mac', 'ios', 'android', 'linux', 'firefox'] as const;

/** The root of the internal authority, and how devices come to trust it. */
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
            <Alert color="yellow" className="foreign">
              {data.issue}
            </Alert>
          )}
          <Card withBorder>
            <SimpleGrid cols={{ base: 1, sm: 2 }}>
              <div>
                <Text size="xs" c="dimmed">
                  {t('authority.subject')}
                </Text>
                <Text size="sm" className="foreign">
                  {data.subject}
                </Text>
              </div>
              <div>
                <Text size="xs" c="dimmed">
                  {t('authority.until')}
                </Text>
                <Text size="sm">{formatMoment(data.not_after)}</Text>
              </div>
            </SimpleGrid>
            <Text size="xs" c="dimmed" mt="sm">
              {t('authority.fingerprint')}
            </Text>
            <Text size="sm" ff="monospace" className="foreign">
              {data.sha256}
            </Text>
            <Button
              component="a"
              href={urlOf('/certificates/internal-ca/root.pem')}
              download
              mt="md"
              mr="auto"
              leftSection={<IconDownload size={16} />}
            >
              {t('authority.download')}
            </Button>
          </Card>
          <Title order={2}>{t('authority.how')}</Title>
          <Text size="sm">{t('authority.compare')}</Text>
          <List size="sm" spacing="xs">
            {WAYS.map((way) => (
              <List.Item key={way}>{t(`authority.ways.${way}`)}</List.Item>
            ))}
          </List>
        </Stack>
      )}
    </Page>
  );
};
