import { Accordion, Button, Group, Stack, Table, Text } from '@mantine/core';
import type { HistoryEntry } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange, useRead } from '../../../api/query.ts';
import { IconHistory } from '../../../ui/icons.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { batchOf, offerUndo } from '../../../ui/undo.tsx';
import { TOUCHED_BY_HOSTS } from './use-host-changes.tsx';

const ENTRIES = 30;
const LONGEST = 300;

const shown = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
};

interface HostHistoryProps {
  uuid: string;
  isOpen: boolean;
  onReverted: () => void;
}

/** What was changed of a host, by whom, field by field; each change can be taken back. */
export const HostHistory = ({ uuid, isOpen, onReverted }: HostHistoryProps) => {
  const { t } = useTranslation('traffic');
  const { data, error } = useRead<HistoryEntry[]>(`/proxy-hosts/${uuid}/history`, {
    query: { per_page: ENTRIES },
    isOn: isOpen,
  });
  const { mutateAsync, isPending } = useChange(TOUCHED_BY_HOSTS);
  const [refused, setRefused] = useState<Error>();
  const revert = async ({ id }: HistoryEntry) => {
    setRefused(undefined);
    try {
      const answer = await mutateAsync({ method: 'POST', path: `/history/${id}/revert` });
      offerUndo(t('hosts.reverted'), [batchOf(answer)], TOUCHED_BY_HOSTS);
      onReverted();
    } catch (failure) {
      setRefused(failure as Error);
    }
  };
  return (
    <Accordion.Item value="history">
      <Accordion.Control icon={<IconHistory size={16} aria-hidden />}>
        <Text fw={500} size="sm">
          {t('hosts.history')}
        </Text>
      </Accordion.Control>
      <Accordion.Panel>
        <Stack gap="md">
          <Problem error={error ?? refused} />
          {data?.map((entry) => {
            const isMade = entry.action.endsWith('.create');
            return (
              <Stack key={entry.id} gap={4}>
                <Group gap="xs" justify="space-between" wrap="nowrap">
                  <Text size="sm" className="foreign">
                    {t(isMade ? 'hosts.madeBy' : 'hosts.changedBy', { actor: entry.actor })} ·{' '}
                    <Moment at={entry.created_at} />
                  </Text>
                  {!isMade && (
                    <Button
                      size="compact-xs"
                      variant="default"
                      flex="none"
                      loading={isPending}
                      onClick={() => void revert(entry)}
                    >
                      {t('hosts.revert')}
                    </Button>
                  )}
                </Group>
                {!isMade && (
                  <Table fz="xs" layout="fixed" withRowBorders={false} verticalSpacing={2}>
                    <Table.Tbody>
                      {entry.changes.map(({ field, before, after }) => (
                        <Table.Tr key={field}>
                          <Table.Td c="dimmed" className="foreign">
                            {field}
                          </Table.Td>
                          <Table.Td className="foreign">
                            <del>{shown(before)}</del>
                          </Table.Td>
                          <Table.Td className="foreign">
                            <ins style={{ textDecoration: 'none', fontWeight: 600 }}>{shown(after)}</ins>
                          </Table.Td>
                        </Table.Tr>
                      ))}
                    </Table.Tbody>
                  </Table>
                )}
              </Stack>
            );
          })}
        </Stack>
      </Accordion.Panel>
    </Accordion.Item>
  );
};
