import { Box, Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import type { ImportPreviewHost } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../../i18n/formats.ts';
import { Name } from '../../../ui/name.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { type Choices, isTaken } from './choices.ts';
import { Excerpt } from './excerpt.tsx';
import { NoteList } from './notes.tsx';

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const SideBySide = ({ host }: { host: ImportPreviewHost }) => {
  const { t } = useTranslation('system');
  if (host.changes.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        {t('imports.nothingDiffers')}
      </Text>
    );
  }
  return (
    <Table withTableBorder fz="xs" layout="fixed" aria-label={t('imports.sideBySide')}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('imports.field')}</Table.Th>
          <Table.Th>{t('imports.here')}</Table.Th>
          <Table.Th>{t('imports.theirs')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {host.changes.map(({ field, before, after }) => (
          <Table.Tr key={field}>
            <Table.Td className="foreign">{field}</Table.Td>
            <Table.Td className="foreign">{shown(before)}</Table.Td>
            <Table.Td className="foreign">{shown(after)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
};

interface PreviewHostProps {
  host: ImportPreviewHost;
  choice: Choices[string] | undefined;
  onChoice: (choice: Choices[string] | undefined) => void;
}

/** One host that would come: where it leads, what is not taken over, and what is to become of it. */
export const PreviewHost = ({ host, choice, onChoice }: PreviewHostProps) => {
  const { t } = useTranslation('system');
  const isConflict = isTaken(host);
  const offered = isConflict ? (['keep', 'overwrite', 'skip'] as const) : (['import', 'skip'] as const);
  return (
    <Box py="sm" style={{ borderTop: '1px solid var(--mantine-color-default-border)' }}>
      <Group justify="space-between" align="flex-start" gap="sm">
        <Box flex="1 1 18rem" miw={0}>
          <Text fw={600}>
            <Name>{host.domain.replaceAll(',', ', ')}</Name>
          </Text>
          <Text size="sm" c="dimmed" className="foreign">
            → {host.forward_scheme}://{host.forward_host}:{host.forward_port}
          </Text>
          <Group gap={6} mt={4}>
            {host.access_list !== null && (
              <StateBadge kind="good">{t('imports.accessList', { name: host.access_list })}</StateBadge>
            )}
            {host.certificate !== null && (
              <StateBadge kind="good">{t('imports.certificate', { name: host.certificate })}</StateBadge>
            )}
          </Group>
        </Box>
        {host.issue === null && (
          <SegmentedControl
            size="xs"
            aria-label={t('imports.what', { domain: host.domain })}
            value={choice ?? (isConflict ? '' : 'import')}
            onChange={(value) => onChoice(value === 'import' ? undefined : (value as Choices[string]))}
            data={offered.map((value) => ({ value, label: t(`imports.choices.${value}`) }))}
          />
        )}
      </Group>
      <Stack gap="xs" mt={6}>
        {host.issue !== null && (
          <Box>
            <StateBadge kind="bad">{t('imports.choices.skip')}</StateBadge>
            <Text size="sm" mt={4} className="foreign">
              {host.issue}
            </Text>
            <Excerpt file={host.file} line={host.line} />
          </Box>
        )}
        {isConflict && (
          <Box>
            <Text size="sm" className="foreign">
              {t('imports.taken', { names: host.existing.map(({ domain }) => domain).join('; ') })}
            </Text>
            <SideBySide host={host} />
          </Box>
        )}
        {host.warnings.length > 0 && (
          <Box>
            <StateBadge kind="warning">
              {t('imports.warnings', { count: host.warnings.length, shown: formatNumber(host.warnings.length) })}
            </StateBadge>
            <Box mt={6}>
              <NoteList notes={host.warnings} />
            </Box>
          </Box>
        )}
      </Stack>
    </Box>
  );
};
