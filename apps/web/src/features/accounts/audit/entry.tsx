import { ActionIcon, Anchor, Stack, Table, Text, Tooltip } from '@mantine/core';
import type { AuditEntry } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../../../i18n/formats.ts';
import { IconChevronDown, IconChevronRight } from '../../../ui/icons.ts';
import { Name } from '../../../ui/name.tsx';

const shown = (value: unknown): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);

const Details = ({ entry }: { entry: AuditEntry }) => {
  const { t } = useTranslation('accounts');
  const { before = {}, after = {} } = entry.details;
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return (
    <Stack gap="xs" py="xs">
      {fields.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('audit.noFields')}
        </Text>
      ) : (
        <Table withTableBorder fz="xs" layout="fixed">
          <Table.Thead>
            <Table.Tr>
              <Table.Th w="24%">{t('audit.field')}</Table.Th>
              <Table.Th>{t('audit.before')}</Table.Th>
              <Table.Th>{t('audit.after')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {fields.map((field) => (
              <Table.Tr key={field}>
                <Table.Td className="foreign">{field}</Table.Td>
                <Table.Td className="foreign">{shown(before[field])}</Table.Td>
                <Table.Td className="foreign">{shown(after[field])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      <Text size="xs" c="dimmed" className="foreign">
        {t('audit.request')}: {entry.method} {entry.path}
      </Text>
      {entry.ip !== '' && (
        <Text size="xs" c="dimmed" className="foreign" hiddenFrom="sm">
          {t('audit.address')}: {entry.ip}
        </Text>
      )}
      {entry.user_agent !== '' && (
        <Text size="xs" c="dimmed" className="foreign">
          {t('audit.userAgent')}: {entry.user_agent}
        </Text>
      )}
    </Stack>
  );
};

/** What has a column of its own where there is room for it. */
const Beneath = ({ children }: { children: string }) => (
  <Text size="xs" c="dimmed" hiddenFrom="sm">
    <Name>{children}</Name>
  </Text>
);

interface EntryProps {
  entry: AuditEntry;
  isOpen: boolean;
  onToggle: () => void;
  /** Looks for entries of the same action. */
  onAction: () => void;
}

/** An entry in a line, and below it what it changed when that is wanted. */
export const Entry = ({ entry, isOpen, onToggle, onAction }: EntryProps) => {
  const { t } = useTranslation('accounts');
  return (
    <>
      <Table.Tr>
        <Table.Td>
          <time dateTime={entry.timestamp} style={{ whiteSpace: 'nowrap' }}>
            {formatMoment(entry.timestamp)}
          </time>
          <Beneath>{entry.actor}</Beneath>
        </Table.Td>
        <Table.Td miw={150} maw={220} visibleFrom="sm">
          <Name>{entry.actor}</Name>
        </Table.Td>
        <Table.Td>
          <Tooltip label={t('audit.onlyThis', { action: entry.action })}>
            <Anchor component="button" type="button" inherit ta="start" onClick={onAction}>
              <Name>{entry.action}</Name>
            </Anchor>
          </Tooltip>
          <Beneath>{entry.resource}</Beneath>
        </Table.Td>
        <Table.Td maw={300} visibleFrom="sm">
          <Name>{entry.resource}</Name>
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <Name>{entry.ip}</Name>
        </Table.Td>
        <Table.Td ta="right">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-expanded={isOpen}
            aria-label={t(isOpen ? 'audit.hideDetails' : 'audit.details', { id: entry.id })}
            onClick={onToggle}
          >
            {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
          </ActionIcon>
        </Table.Td>
      </Table.Tr>
      {isOpen && (
        <Table.Tr>
          <Table.Td colSpan={6}>
            <Details entry={entry} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
};
