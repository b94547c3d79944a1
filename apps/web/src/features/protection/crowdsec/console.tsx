import { Alert, Button, Group, Stack, Table, Text } from '@mantine/core';
import type { ConsoleEnrolment } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useAnswer, useChange } from '../../../api/query.ts';
import { formatMoment } from '../../../i18n/formats.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { Panel } from '../../../ui/panel.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';
import { CrowdsecPage } from './crowdsec-page.tsx';
import { Enrol } from './enrol.tsx';

const PATH = '/admin/crowdsec/console';
const TOUCHED = ['/admin/crowdsec', '/security'] as const;

const KINDS: Record<ConsoleEnrolment['state'], StateKind> = {
  none: 'off',
  enrolling: 'waiting',
  waiting_for_acceptance: 'good',
  failed: 'bad',
};

const Enrolled = ({ enrolment, etag }: { enrolment: ConsoleEnrolment; etag: string | undefined }) => {
  const { t } = useTranslation('crowdsec');
  const { mutateAsync } = useChange(TOUCHED);
  const { name, tags, enrolled_at, sends } = enrolment;
  const end = async () => {
    await mutateAsync({ method: 'DELETE', path: PATH, ifMatch: etag });
    notifyDone(t('ended'));
  };
  const rows = [
    [t('nameThere'), name],
    [t('tags'), tags.join(', ') || '–'],
    [t('enrolledAt'), enrolled_at === null ? '–' : formatMoment(enrolled_at)],
    [t('sends'), sends ?? t('nothingSent')],
  ] as const;
  return (
    <Stack>
      <Text size="sm">{t('acceptThere')}</Text>
      <Table variant="vertical" fz="sm" layout="fixed">
        <Table.Tbody>
          {rows.map(([label, value]) => (
            <Table.Tr key={label}>
              <Table.Th w={{ base: 110, sm: 200 }}>{label}</Table.Th>
              <Table.Td className="foreign">{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <Group>
        <Confirm
          title={t('endTitle')}
          action={t('end')}
          onConfirm={end}
          trigger={(open) => (
            <Button variant="default" onClick={open}>
              {t('end')}
            </Button>
          )}
        >
          {t('endAbout')}
        </Confirm>
      </Group>
    </Stack>
  );
};

/** Whether CrowdSec tells its makers what it sees, and what it gets for that. */
export const Console = () => {
  const { t } = useTranslation('crowdsec');
  const { data, error, refetch } = useAnswer<ConsoleEnrolment>(PATH, { everyMs: 5_000 });
  const enrolment = data?.data;
  return (
    <CrowdsecPage about={t('consoleAbout')}>
      <Problem error={error} onRetry={() => void refetch()} />
      {enrolment && (
        <Stack maw={760}>
          <Panel
            title={t('tabs.console')}
            aside={<StateBadge kind={KINDS[enrolment.state]}>{t(`consoleStates.${enrolment.state}`)}</StateBadge>}
          >
            {enrolment.issue !== null && (
              <Alert color="red" className="foreign">
                {enrolment.issue}
              </Alert>
            )}
            {enrolment.enrolled_at === null ? <Enrol /> : <Enrolled enrolment={enrolment} etag={data.etag} />}
          </Panel>
        </Stack>
      )}
    </CrowdsecPage>
  );
};
