import { Anchor, Button, Group, Paper, Progress, Stack, Text, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import type { DescribedSetting } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconCircle, IconCircleCheckFilled } from '../../../ui/icons.ts';
import type { Facts } from './facts.ts';
import { Reaching } from './reaching.tsx';

type Step = 'admin' | 'host' | 'page' | 'certificate' | 'totp' | 'backup' | 'drill' | 'address';

/** What is left to do on a fresh system, up to the first page that is served and the way back in. Gone once all is done. */
export const Checklist = ({ facts }: { facts: Facts }) => {
  const { t } = useTranslation('system');
  const { user } = useWho();
  const [isHidden, setHidden] = useLocalStorage({ key: 'sallyport.checklist-hidden', defaultValue: false });
  const address = useRead<DescribedSetting>('/settings/app.public_url');
  const { hosts, backups, emergency } = facts;
  if (isHidden || !hosts || !backups || !emergency || !address.data) return null;
  const steps: { name: Step; isDone: boolean; to?: string; href?: string | undefined }[] = [
    { name: 'admin', isDone: user !== undefined, to: '/users' },
    { name: 'host', isDone: hosts.total > 0, to: '/hosts/new' },
    { name: 'page', isDone: hosts.served > 0, to: '/hosts', href: hosts.first_page ?? undefined },
    { name: 'certificate', isDone: hosts.with_certificate > 0, to: '/certificates' },
    { name: 'totp', isDone: user?.totp_enabled === true, to: '/account' },
    { name: 'backup', isDone: backups.some(({ verified_at }) => verified_at !== null), to: '/backups' },
    { name: 'drill', isDone: emergency.last_proven_at !== null, to: '/emergency' },
    { name: 'address', isDone: address.data.is_set },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Paper withBorder p="md" component="section">
      <Group justify="space-between" mb="xs" wrap="nowrap" align="flex-start">
        <Title order={2}>{t('overview.checklist')}</Title>
        <Button size="compact-sm" variant="subtle" color="gray" onClick={() => setHidden(true)}>
          {t('overview.hide')}
        </Button>
      </Group>
      <Progress
        value={(done / steps.length) * 100}
        size="sm"
        mb="sm"
        aria-label={t('overview.doneOf', { done, all: steps.length })}
      />
      <Stack gap="xs" component="ol" p={0} m={0}>
        {steps.map(({ name, isDone, to, href }) => (
          <Group key={name} component="li" gap="xs" wrap="nowrap" align="flex-start" style={{ listStyle: 'none' }}>
            {isDone ? (
              <IconCircleCheckFilled
                size={20}
                style={{ flexShrink: 0 }}
                color="var(--mantine-color-verdigris-text)"
                aria-label={t('overview.done')}
              />
            ) : (
              <IconCircle
                size={20}
                style={{ flexShrink: 0 }}
                color="var(--mantine-color-dimmed)"
                aria-label={t('overview.toDo')}
              />
            )}
            <div>
              <Text size="sm" fw={500} component="div">
                {!isDone && to ? (
                  <Anchor component={Link} to={to} inherit>
                    {t(`overview.steps.${name}`)}
                  </Anchor>
                ) : (
                  t(`overview.steps.${name}`)
                )}
              </Text>
              {!isDone && (
                <Text size="sm" c="dimmed">
                  {t(`overview.stepsWhy.${name}`)}
                </Text>
              )}
              {isDone && href && (
                <Anchor href={href} target="_blank" rel="noreferrer" size="sm" className="foreign">
                  {t('overview.openPage', { href })}
                </Anchor>
              )}
              {name === 'address' && !isDone && <Reaching envFile={emergency.env_file} />}
            </div>
          </Group>
        ))}
      </Stack>
    </Paper>
  );
};
