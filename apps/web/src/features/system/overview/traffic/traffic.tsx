import { Group, Loader, Paper, SegmentedControl, Text, Title } from '@mantine/core';
import type { TrafficBucket, TrafficFigures } from '@sallyport/contract';
import { lazy, Suspense, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../../api/query.ts';
import { formatMoment, formatNumber, formatTime } from '../../../../i18n/formats.ts';
import { Problem } from '../../../../ui/problem.tsx';
import { sumsOf } from './sums.ts';
import classes from './traffic.module.css';

const Chart = lazy(() => import('./chart.tsx'));

/** Hours that can be shown, with the seconds of a bucket: so many points as a chart has room for. */
const STEPS = { 1: 60, 24: 300, 48: 600 } as const;
type Hours = keyof typeof STEPS;
const HOURS = [1, 24, 48] as const satisfies readonly Hours[];

const EVERY_MS = 30_000;
const MOSTLY_UNKNOWN_MINUTES = 23 * 60;
const LINES = ['requests', 'client', 'server'] as const;

const durationOf = (minutes: number): string =>
  minutes < 60
    ? formatNumber(minutes, { style: 'unit', unit: 'minute', unitDisplay: 'long' })
    : formatNumber(minutes / 60, { style: 'unit', unit: 'hour', unitDisplay: 'long', maximumFractionDigits: 1 });

/** Requests and errors of the last hours, as numbers and as a chart. */
export const Traffic = () => {
  const { t } = useTranslation('system');
  const [hours, setHours] = useState<Hours>(24);
  const [pointed, setPointed] = useState<TrafficBucket | null>(null);
  const step = STEPS[hours];
  // The first bucket lies within the hours as a whole: what is before them may be kept no longer.
  const begin = (Math.floor((Date.now() / 1_000 - hours * 3_600) / step) + 1) * step;
  const { data, error, refetch } = useRead<TrafficFigures>('/traffic/figures', {
    query: { since: new Date(begin * 1_000).toISOString(), step },
    everyMs: EVERY_MS,
  });
  const sums = data && sumsOf(data.buckets);
  // A day of which nothing but the last minutes is known would be an empty chart.
  const [isJudged, setJudged] = useState(false);
  if (sums && !isJudged) {
    setJudged(true);
    if (sums.isKnown && sums.unknownMinutes > MOSTLY_UNKNOWN_MINUTES) setHours(1);
  }
  // The last one is still being counted: it would look like a fall.
  const drawn = useMemo(() => data?.buckets.slice(0, -1) ?? [], [data]);

  const inWords = (): string => {
    if (!pointed || !data) return '';
    const end = new Date(Date.parse(pointed.at) + data.step * 1_000);
    const span = { from: formatMoment(pointed.at), to: formatTime(end) };
    if (pointed.requests === null) return t('traffic.atUnknown', span);
    return t('traffic.at', {
      ...span,
      requests: formatNumber(pointed.requests),
      client: formatNumber(pointed.client_errors ?? 0),
      server: formatNumber(pointed.server_errors ?? 0),
    });
  };

  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{t('traffic.title')}</Title>
        <SegmentedControl
          size="xs"
          aria-label={t('traffic.range')}
          value={String(hours)}
          onChange={(value) => {
            setPointed(null);
            setHours(HOURS.find((one) => String(one) === value) ?? 24);
          }}
          data={HOURS.map((one) => ({ value: String(one), label: t(`traffic.ranges.h${one}`) }))}
        />
      </Group>
      <Problem error={error} onRetry={() => void refetch()} />
      {sums && (
        <Paper withBorder p="sm">
          {sums.isKnown ? (
            <>
              <Text size="sm">
                <b>{t('traffic.sum', { count: sums.requests, shown: formatNumber(sums.requests) })}</b>
                {sums.peak &&
                  `, ${t('traffic.peak', { shown: formatNumber(sums.peak.peak_requests ?? 0), when: formatMoment(sums.peak.at) })}`}
                {`; ${t('traffic.clientErrors', { shown: formatNumber(sums.clientErrors) })}, `}
                {`${t('traffic.serverErrors', { shown: formatNumber(sums.serverErrors) })}.`}
              </Text>
              <Suspense fallback={<Loader className={classes.chart} />}>
                <Chart buckets={drawn} label={t('traffic.chart')} onPoint={setPointed} />
              </Suspense>
              <Group gap="md" mt={4} aria-hidden>
                {LINES.map((line) => (
                  <Text key={line} size="xs" className={classes[line]}>
                    <span className={classes.mark} />
                    <span className={classes.label}>{t(`traffic.${line}`)}</span>
                  </Text>
                ))}
              </Group>
              <Text size="xs" mt={4} className={classes.pointed} aria-hidden>
                {inWords()}
              </Text>
            </>
          ) : (
            <Text size="sm">{t('traffic.noneYet')}</Text>
          )}
          <Text size="xs" c="dimmed" className="foreign">
            {sums.isKnown &&
              sums.unknownMinutes > 0 &&
              `${t('traffic.unknown', { duration: durationOf(sums.unknownMinutes) })} `}
            {t('traffic.node', { node: data.node })}
          </Text>
        </Paper>
      )}
    </section>
  );
};
