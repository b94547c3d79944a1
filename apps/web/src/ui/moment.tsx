import { Text, Tooltip } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatDistance, formatMoment } from '../i18n/formats.ts';

/** A moment as far from now as it is, and by the clock for whoever asks; `never` when there is none. */
export const Moment = ({ at, never }: { at: string | null | undefined; never?: string }) => {
  const { i18n } = useTranslation();
  if (at === null || at === undefined || at === '') return <>{never ?? '–'}</>;
  return (
    <Tooltip label={formatMoment(at)}>
      <Text span inherit lang={i18n.resolvedLanguage}>
        <time dateTime={at}>{formatDistance(at)}</time>
      </Text>
    </Tooltip>
  );
};
