import { Group, Stack, Text } from '@mantine/core';
import type { PreflightCheck } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { StateBadge } from '../../../ui/state-badge.tsx';

/** What was looked at before an order, and what to do about what stands in its way; that comes first. */
export const PreflightChecks = ({ checks }: { checks: readonly PreflightCheck[] }) => {
  const { t } = useTranslation('traffic');
  const kindOf = ({ ok, blocks }: PreflightCheck) => (ok ? 'good' : blocks ? 'bad' : 'warning');
  const ordered = [...checks].sort((a, b) => Number(a.ok) - Number(b.ok));
  return (
    <Stack component="ul" gap="xs" m={0} p={0} aria-label={t('ordering.checks')} style={{ listStyle: 'none' }}>
      {ordered.map((check) => (
        <Group
          component="li"
          key={check.name + check.subject + check.message}
          gap="xs"
          wrap="nowrap"
          align="flex-start"
        >
          <StateBadge kind={kindOf(check)}>{t(`ordering.results.${kindOf(check)}`)}</StateBadge>
          <div>
            <Text size="sm" className="foreign">
              {check.subject === '' ? check.message : `${check.subject}: ${check.message}`}
            </Text>
            {check.fix !== null && (
              <Text size="sm" fw={500} className="foreign">
                {check.fix}
              </Text>
            )}
          </div>
        </Group>
      ))}
    </Stack>
  );
};
