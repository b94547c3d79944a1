import { Button, Code, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { EmergencyDrill, EmergencyStatus } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { IconPrinter } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import classes from './emergency.module.css';

/** A path as a shell takes it. */
const inShell = (path: string): string => (/^[\w@%+=:./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** What a drill found, each with what to do about it. */
const Checks = ({ checks }: Pick<EmergencyDrill, 'checks'>) => {
  const { t } = useTranslation('system');
  return (
    <Stack gap={6} component="ul" p={0} m={0} mt="sm">
      {checks.map(({ name, ok, message }) => (
        <Group key={name} component="li" gap="sm" align="baseline" style={{ listStyle: 'none' }}>
          <StateBadge kind={ok ? 'good' : 'bad'}>{t(ok ? 'emergency.well' : 'emergency.notWell')}</StateBadge>
          <Text size="sm" fw={500} miw={150}>
            {t(`emergency.checks.${name}`)}
          </Text>
          <Text size="sm" c="dimmed" className="foreign" flex="1 1 16rem">
            {message}
          </Text>
        </Group>
      ))}
    </Stack>
  );
};

/** The three ways back in, with commands to keep on paper. The token itself is never shown. */
const Steps = ({ status }: { status: EmergencyStatus | undefined }) => {
  const { t } = useTranslation('system');
  const { listener, command = 'bin/sallyport' } = status ?? {};
  const port = listener?.slice(listener.lastIndexOf(':') + 1) ?? '2020';
  return (
    <Stack component="ol" gap="sm" pl="lg" m={0} fz="sm">
      <li>
        {t('emergency.tier1')}
        <Code block mt={4} className={classes.command}>
          {`curl -X POST -H "X-Emergency-Token: $TOKEN" ${window.location.origin}/api/v1/emergency/security-reset`}
        </Code>
      </li>
      <li>
        {t('emergency.tier2')}
        <Code block mt={4} className={classes.command}>
          {`ssh -L ${port}:127.0.0.1:${port} user@server\ncurl -X POST -H "X-Emergency-Token: $TOKEN" http://127.0.0.1:${port}/emergency/security-reset`}
        </Code>
      </li>
      <li>
        {t('emergency.tier3')}
        <Code block mt={4} className={classes.command}>
          {`${inShell(command)} emergency reset`}
        </Code>
      </li>
    </Stack>
  );
};

/** The way back in after a lock-out: whether it is set up, when it was last proven, and what to do when it has happened. */
export const Emergency = () => {
  const { t } = useTranslation('system');
  const { isAdmin } = useWho();
  const { data, error, refetch } = useRead<EmergencyStatus>('/emergency/status');
  const drill = useChange<EmergencyDrill>();
  const result = drill.data?.data;
  return (
    <Page
      title={t('emergency.title')}
      about={t('emergency.about')}
      actions={
        <Button
          variant="default"
          className="not-printed"
          leftSection={<IconPrinter size={16} />}
          onClick={() => window.print()}
        >
          {t('emergency.print')}
        </Button>
      }
    >
      <Problem error={error} onRetry={() => void refetch()} />
      {data && (
        <Paper withBorder p="md" component="section">
          <Group justify="space-between" align="flex-start">
            <Stack gap={6}>
              <Title order={2}>{t('emergency.drill')}</Title>
              <Group gap="xs">
                <Text size="sm">{t('emergency.token')}</Text>
                <StateBadge kind={data.token_set ? 'good' : 'warning'}>
                  {t(data.token_set ? 'emergency.isSet' : 'emergency.notSet')}
                </StateBadge>
                <Text size="sm">{t('emergency.listener')}</Text>
                <StateBadge kind={data.listener === null ? 'off' : 'good'}>
                  {data.listener ?? t('emergency.notSet')}
                </StateBadge>
              </Group>
              <Text size="sm">
                {t('emergency.lastProven')} <Moment at={data.last_proven_at} never={t('emergency.never')} />
              </Text>
              <Text size="sm" c="dimmed" maw={620}>
                {t('emergency.drillAbout')}
              </Text>
            </Stack>
            {isAdmin && (
              <Button
                loading={drill.isPending}
                onClick={() => drill.mutate({ method: 'POST', path: '/emergency/drill' })}
              >
                {t('emergency.doDrill')}
              </Button>
            )}
          </Group>
          <Problem error={drill.error} />
          {result && (
            <div role="status">
              <Text fw={600} mt="sm">
                {result.ok
                  ? t('emergency.allWell')
                  : t('emergency.someNot', { count: result.checks.filter(({ ok }) => !ok).length })}
              </Text>
              <Checks checks={result.checks} />
            </div>
          )}
        </Paper>
      )}
      {data && (!data.token_set || data.listener === null) && (
        <Paper withBorder p="md" component="section">
          <Title order={2} mb="xs">
            {t('emergency.setUp')}
          </Title>
          <Text size="sm" mb="xs">
            {t('emergency.setUpAbout')}
          </Text>
          <Code block className={classes.command}>
            {[
              ...(data.token_set ? [] : ['SALLYPORT_EMERGENCY_TOKEN=$(openssl rand -hex 32)']),
              ...(data.listener === null ? ['SALLYPORT_EMERGENCY_BIND=127.0.0.1:2020'] : []),
            ]
              .map((line) => `echo "${line}" >> ${inShell(data.env_file)}`)
              .join('\n')}
          </Code>
        </Paper>
      )}
      <Paper withBorder p="md" component="section">
        <Title order={2} mb="xs">
          {t('emergency.steps')}
        </Title>
        <Text size="sm" mb="sm">
          {t('emergency.stepsAbout')}
        </Text>
        <Steps status={data} />
        <Text size="sm" mt="sm">
          {t('emergency.after')}
        </Text>
      </Paper>
    </Page>
  );
};
