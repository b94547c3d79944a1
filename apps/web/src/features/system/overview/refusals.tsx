import { Anchor, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { BlockSummary } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Facts } from './facts.ts';
import classes from './overview.module.css';

const TOP = 5;
const RECENT = 6;
const BARS = 48;
const DAY_MS = 86_400_000;

/** The most frequent values, with how often each is there. */
const topOf = (
  blocks: readonly BlockSummary[],
  pick: (block: BlockSummary) => string | undefined,
): [string, number][] => {
  const counts = new Map<string, number>();
  for (const block of blocks) {
    const value = pick(block);
    if (value !== undefined && value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1]).slice(0, TOP);
};

/** How many were refused in each of `BARS` equal parts of the time since `from`. */
const countsSince = (blocks: readonly BlockSummary[], from: number, now: number): number[] => {
  const counts = new Array<number>(BARS).fill(0);
  for (const { timestamp } of blocks) {
    const part = Math.floor(((Date.parse(timestamp) - from) / (now - from)) * BARS);
    if (part >= 0 && part <= BARS) counts[Math.min(part, BARS - 1)] = (counts[Math.min(part, BARS - 1)] ?? 0) + 1;
  }
  return counts;
};

const Tops = ({ title, rows, to }: { title: string; rows: [string, number][]; to?: (value: string) => string }) => (
  <Paper withBorder p="sm">
    <Title order={3} size="sm" mb={6}>
      {title}
    </Title>
    <Stack gap={2}>
      {rows.map(([value, count]) => (
        <Group key={value} justify="space-between" wrap="nowrap" gap="xs">
          {to ? (
            <Anchor component={Link} to={to(value)} size="sm" className="foreign" lineClamp={1}>
              {value}
            </Anchor>
          ) : (
            <Text size="sm" className="foreign" lineClamp={1}>
              {value}
            </Text>
          )}
          <Text size="sm" c="dimmed">
            {formatNumber(count)}
          </Text>
        </Group>
      ))}
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          –
        </Text>
      )}
    </Stack>
  </Paper>
);

/** What was refused lately: over time, by host, rule and address, and the newest ones. */
export const Refusals = ({ blocks }: { blocks: NonNullable<Facts['blocks']> }) => {
  const { t } = useTranslation('system');
  const { newest, total } = blocks;
  const now = Date.now();
  const oldest = newest.at(-1);
  // What lies before the oldest that was read is not known to be nothing.
  const isCut = total > newest.length;
  const from = Math.max(now - DAY_MS, isCut && oldest ? Date.parse(oldest.timestamp) : 0);
  const counts = countsSince(newest, from, now);
  const most = Math.max(1, ...counts);
  const inTime = counts.reduce((sum, count) => sum + count, 0);
  const search = (value: string) => `/blocks?search=${encodeURIComponent(value)}`;
  return (
    <section>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{t('overview.refusals')}</Title>
        {total > 0 && (
          <Anchor component={Link} to="/blocks" size="sm">
            {t('overview.allRefusals', { count: total, shown: formatNumber(total) })}
          </Anchor>
        )}
      </Group>
      {newest.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('overview.noRefusals')}
        </Text>
      ) : (
        <Stack gap="sm">
          <Paper withBorder p="sm">
            <Text size="sm" mb={6}>
              {t('overview.refusedSince', {
                count: inTime,
                shown: formatNumber(inTime),
                from: formatMoment(new Date(from).toISOString()),
              })}
            </Text>
            <div className={classes.bars} aria-hidden>
              {counts.map((count, part) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a part of the time is known by nothing else
                <div key={part} style={{ height: `${(count / most) * 100}%` }} data-none={count === 0 || undefined} />
              ))}
            </div>
          </Paper>
          <Text size="xs" c="dimmed">
            {isCut
              ? t('overview.ofNewest', { count: newest.length, shown: formatNumber(newest.length) })
              : t('overview.ofAll')}
          </Text>
          <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
            <Tops title={t('overview.topHosts')} rows={topOf(newest, ({ host }) => host)} to={search} />
            <Tops
              title={t('overview.topRules')}
              rows={topOf(newest, ({ rule_id, layer }) =>
                rule_id === null ? t(`overview.layers.${layer}`) : `${rule_id}`,
              )}
            />
            <Tops title={t('overview.topAddresses')} rows={topOf(newest, ({ ip }) => ip)} to={search} />
          </SimpleGrid>
          <Stack gap={4} component="ul" p={0} m={0}>
            {newest.slice(0, RECENT).map(({ reference, timestamp, host, request_uri, ip, method, reason }) => (
              <Group key={reference} component="li" gap="xs" wrap="nowrap" style={{ listStyle: 'none' }}>
                <Text size="sm" c="dimmed" miw={110}>
                  <Moment at={timestamp} />
                </Text>
                <Anchor component={Link} to={`/blocks/${reference}`} size="sm" className="foreign" lineClamp={1}>
                  {ip} · {method} {host}
                  {request_uri}
                </Anchor>
                <Text size="sm" c="dimmed" className="foreign" lineClamp={1} visibleFrom="md">
                  {reason}
                </Text>
              </Group>
            ))}
          </Stack>
        </Stack>
      )}
    </section>
  );
};
