import { Button, Group, Text } from '@mantine/core';
import type { UrlTest, ValidUrl } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { formatNumber } from '../../../i18n/formats.ts';
import { wordsOf } from '../../../ui/words-of.ts';

interface Said {
  isGood: boolean;
  text: string;
}

/** Looks at a URL before it is stored: whether it may be one of this service, and whether something answers there. */
export const UrlTools = ({ url }: { url: string }) => {
  const { t } = useTranslation('system');
  const validate = useChange<ValidUrl>([]);
  const test = useChange<UrlTest>([]);
  const [said, setSaid] = useState<Said & { of: string }>();
  const tell = (found: Said) => setSaid({ ...found, of: url });
  const refused = (error: Error) => tell({ isGood: false, text: wordsOf(error) });
  if (url === '') return null;
  const check = () =>
    validate
      .mutateAsync({ method: 'POST', path: '/settings/validate-url', body: { url } })
      .then(
        ({ data: { normalized, warning } }) =>
          tell({ isGood: warning === undefined, text: warning ?? t('settings.urlGood', { url: normalized }) }),
        refused,
      );
  const reach = () =>
    test.mutateAsync({ method: 'POST', path: '/settings/test-url', body: { url } }).then(
      ({ data: { reachable, latency, message, error } }) =>
        tell({
          isGood: reachable,
          text: reachable ? t('settings.urlAnswers', { message, ms: formatNumber(latency) }) : error || message,
        }),
      refused,
    );
  return (
    <Group gap="xs">
      <Button size="compact-sm" variant="default" loading={validate.isPending} onClick={() => void check()}>
        {t('settings.validate')}
      </Button>
      <Button size="compact-sm" variant="default" loading={test.isPending} onClick={() => void reach()}>
        {t('settings.testUrl')}
      </Button>
      <Text size="sm" role="status" className="foreign" c={said?.isGood === false ? 'red' : 'dimmed'}>
        {said?.of === url ? said.text : ''}
      </Text>
    </Group>
  );
};
