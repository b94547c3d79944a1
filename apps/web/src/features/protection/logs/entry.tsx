import { Button, Code, CopyButton, Group, Stack, Table } from '@mantine/core';
import type { LogEntry } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { useWho } from '../../../app/who.ts';
import { formatMoment } from '../../../i18n/formats.ts';
import { Side } from '../../../ui/side.tsx';

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Everything an entry says, and where a refusal is explained. */
export const Entry = ({ entry, onClose }: { entry: LogEntry | undefined; onClose: () => void }) => {
  const { t } = useTranslation(['protection', 'common']);
  const { isAdmin } = useWho();
  const reference = entry?.fields.reference;
  return (
    <Side title={t('logs.details')} isOpen={entry !== undefined} onClose={onClose}>
      {entry && (
        <Stack>
          <Table variant="vertical" fz="sm" layout="fixed">
            <Table.Tbody>
              <Table.Tr>
                <Table.Th w={130}>{t('logs.when')}</Table.Th>
                <Table.Td>{formatMoment(entry.timestamp)}</Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Th>{t('logs.level')}</Table.Th>
                <Table.Td>{t(`logs.levels.${entry.level}`)}</Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Th>{t('logs.source')}</Table.Th>
                <Table.Td>{t(`logs.sources.${entry.source}`)}</Table.Td>
              </Table.Tr>
              <Table.Tr>
                <Table.Th>{t('logs.message')}</Table.Th>
                <Table.Td className="foreign">{entry.message}</Table.Td>
              </Table.Tr>
              {Object.entries(entry.fields).map(([name, value]) => (
                <Table.Tr key={name}>
                  <Table.Th>
                    <Code>{name}</Code>
                  </Table.Th>
                  <Table.Td className="foreign">{shown(value)}</Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
          <Group>
            {isAdmin && typeof reference === 'string' && (
              <Button component={Link} to={`/blocks/${encodeURIComponent(reference)}`}>
                {t('logs.explain')}
              </Button>
            )}
            <CopyButton value={JSON.stringify(entry, undefined, 2)}>
              {({ copied, copy }) => (
                <Button variant="default" onClick={copy}>
                  {t(copied ? 'common:copied' : 'common:copy')}
                </Button>
              )}
            </CopyButton>
          </Group>
        </Stack>
      )}
    </Side>
  );
};
