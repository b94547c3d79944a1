import i18next from 'i18next';
import { formatDistance, formatMoment } from '../i18n/formats.ts';
import { useNow } from './use-now.ts';

/** A moment as far from now as it is, and by the clock for whoever asks; `never` when there is none. */
export const Moment = ({ at, never }: { at: string | null | undefined; never?: string }) => {
  // A page that is left open tells the truth in an hour, too.
  useNow();
  if (at === null || at === undefined || at === '') return <>{never ?? '–'}</>;
  return (
    // A list has hundreds of them: the browser's own label costs nothing until somebody asks for it.
    <time dateTime={at} title={formatMoment(at)} lang={i18next.resolvedLanguage}>
      {formatDistance(at)}
    </time>
  );
};
