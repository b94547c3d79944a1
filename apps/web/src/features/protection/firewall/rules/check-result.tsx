import { Anchor, Group, Loader, Stack, Text } from '@mantine/core';
import { useCallback } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../../../i18n/formats.ts';
import { StateBadge } from '../../../../ui/state-badge.tsx';
import type { Check, Mistake } from './use-check.ts';

/** So many the server tells at most. */
const MOST = 20;

/** A mistake, and what would be right. */
export const useWords = (): ((mistake: Mistake) => string) => {
  const { t } = useTranslation('firewall');
  return useCallback(
    ({ message, expected }) => (expected === '' ? message : `${message}. ${t('expected', { what: expected })}`),
    [t],
  );
};

/** What came of trying the rules. Each mistake leads to its line. */
export const CheckResult = ({ check, onOpen }: { check: Check; onOpen: (mistake: Mistake) => void }) => {
  const { t } = useTranslation('firewall');
  const wordsOf = useWords();
  const { data, mistakes, error, isBehind } = check;
  const badge = () => {
    if (isBehind) return <StateBadge kind="waiting">{t('checking')}</StateBadge>;
    if (error) return <StateBadge kind="bad">{t('checkFailed')}</StateBadge>;
    if (!data) return null;
    const { rule_count: rules, errors, warnings } = data;
    if (rules !== null && warnings.length > 0) {
      return (
        <StateBadge kind="warning">
          {`${t('load', { count: rules, shown: formatNumber(rules) })}, `}
          {warnings.length >= MOST ? t('warnedMany') : t('warned', { count: warnings.length })}
        </StateBadge>
      );
    }
    if (rules !== null) {
      return <StateBadge kind="good">{t('fine', { count: rules, shown: formatNumber(rules) })}</StateBadge>;
    }
    return (
      <StateBadge kind="bad">
        {errors.length >= MOST ? t('wrongMany') : t('wrong', { count: errors.length })}
      </StateBadge>
    );
  };
  return (
    <Stack gap="xs" mt={4}>
      <Group gap="xs" role="status" mih={24}>
        {badge()}
        {isBehind && <Loader size="xs" aria-hidden />}
      </Group>
      {error && !isBehind && (
        <Text size="sm" c="error" className="foreign">
          {error.message}
        </Text>
      )}
      {mistakes.length > 0 && (
        <Stack component="ul" gap={4} m={0} pl="md">
          {mistakes.map((mistake) => (
            <Text key={`${mistake.file} ${mistake.line} ${mistake.column} ${mistake.message}`} component="li" size="sm">
              {mistake.file === null ? (
                <Anchor component="button" type="button" inherit onClick={() => onOpen(mistake)}>
                  {t('place', { line: mistake.line })}
                </Anchor>
              ) : (
                t('inFile', { file: mistake.file, line: mistake.line })
              )}
              <span className="foreign">
                : {mistake.isWarning && `${t('warning')}: `}
                {wordsOf(mistake)}
              </span>
            </Text>
          ))}
        </Stack>
      )}
    </Stack>
  );
};
