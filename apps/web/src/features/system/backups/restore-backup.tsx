import { Alert, Button, Code, Group, List, PasswordInput, Stack, Table, Text, Title } from '@mantine/core';
import type { Backup, RestoreReport } from '@sallyport/contract';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { ask } from '../../../api/client.ts';
import { queryClient, useRead } from '../../../api/query.ts';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { Side } from '../../../ui/side.tsx';

/** What a restore would change, or changed, by kind. */
const Changes = ({ changes }: { changes: RestoreReport['changes'] }) => {
  const { t } = useTranslation('system');
  const kinds = Object.entries(changes);
  if (kinds.length === 0) return <Text size="sm">{t('backups.nothingChanges')}</Text>;
  return (
    <Table fz="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('backups.what')}</Table.Th>
          <Table.Th ta="right">{t('backups.added')}</Table.Th>
          <Table.Th ta="right">{t('backups.changed')}</Table.Th>
          <Table.Th ta="right">{t('backups.gone')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {kinds.map(([kind, { added, changed, removed }]) => (
          <Table.Tr key={kind}>
            <Table.Td className="foreign">{kind.replaceAll('_', ' ')}</Table.Td>
            <Table.Td ta="right">{formatNumber(added)}</Table.Td>
            <Table.Td ta="right">{formatNumber(changed)}</Table.Td>
            <Table.Td ta="right" fw={removed > 0 ? 600 : undefined}>
              {formatNumber(removed)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
};

/** A backup: what it is, what restoring it would change, and then restoring it. */
export const RestoreBackup = () => {
  const { t } = useTranslation(['system', 'common']);
  const { name = '' } = useParams();
  const path = `/backups/${encodeURIComponent(name)}`;
  const navigate = useNavigate();
  const form = useId();
  const { data: backup, error } = useRead<Backup>(path);
  const [passphrase, setPassphrase] = useState('');
  const [report, setReport] = useState<RestoreReport>();
  const [refused, setRefused] = useState<Error>();
  const [isBusy, setBusy] = useState(false);

  const restore = async (isDry: boolean): Promise<RestoreReport> => {
    const body = { dry_run: isDry, ...(passphrase === '' ? {} : { passphrase }) };
    return (await ask<RestoreReport>('POST', `${path}/restore`, { body })).data;
  };
  const look = async () => {
    setBusy(true);
    setRefused(undefined);
    setReport(undefined);
    try {
      setReport(await restore(true));
    } catch (failure) {
      setRefused(failure as Error);
    } finally {
      setBusy(false);
    }
  };
  const carryOut = async () => {
    setReport(await restore(false));
    // Everything may be otherwise now.
    void queryClient.invalidateQueries();
  };
  return (
    <Side title={t('backups.restore')} onClose={() => void navigate('/backups')}>
      <Stack gap="md">
        <Problem error={error} />
        {backup && (
          <>
            <Text size="sm" className="foreign">
              {t('backups.madeAt', { when: formatMoment(backup.created_at) })} <Code>{backup.name}</Code>
            </Text>
            <form
              id={form}
              noValidate
              onSubmit={(event) => {
                event.preventDefault();
                void look();
              }}
            >
              {backup.encrypted && (
                <PasswordInput
                  label={t('backups.passphrase')}
                  description={t('backups.restoreHint')}
                  autoComplete="off"
                  value={passphrase}
                  onChange={({ currentTarget }) => setPassphrase(currentTarget.value)}
                />
              )}
            </form>
            {report?.restored ? (
              <Alert color="verdigris" role="status" title={t('backups.restored')}>
                <Stack gap="xs">
                  <Changes changes={report.changes} />
                  {report.backup !== undefined && (
                    <Text size="sm" className="foreign">
                      {t('backups.before', { name: report.backup })}
                    </Text>
                  )}
                </Stack>
              </Alert>
            ) : (
              <>
                <Text size="sm">{t('backups.lookAbout')}</Text>
                <List size="sm" spacing={4}>
                  <List.Item>{t('backups.staysAccounts')}</List.Item>
                  <List.Item>{t('backups.staysBans')}</List.Item>
                  <List.Item>{t('backups.meanwhile')}</List.Item>
                </List>
                <Group>
                  <Button type="submit" form={form} variant={report ? 'default' : 'filled'} loading={isBusy}>
                    {t('backups.look')}
                  </Button>
                </Group>
              </>
            )}
            <Problem error={refused} />
            {report && !report.restored && (
              <section>
                <Title order={2} mb="xs">
                  {t('backups.wouldChange')}
                </Title>
                <Changes changes={report.changes} />
                {Object.keys(report.changes).length > 0 && (
                  <Group justify="flex-end" mt="md">
                    <Confirm
                      title={t('backups.restoreAsk')}
                      action={t('backups.restoreNow')}
                      onConfirm={carryOut}
                      trigger={(open) => (
                        <Button color="red" onClick={open}>
                          {t('backups.restoreNow')}
                        </Button>
                      )}
                    >
                      {t('backups.restoreAskAbout')}
                    </Confirm>
                  </Group>
                )}
              </section>
            )}
          </>
        )}
      </Stack>
    </Side>
  );
};
