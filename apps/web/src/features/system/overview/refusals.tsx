import { Anchor, Group, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import type { BlockStatistics } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { formatMoment, formatNumber } from '../../../i18n/formats.ts';
import { Moment } from '../../../ui/moment.tsx';
import type { Facts } from './facts.ts';
import classes from './overview.module.css';
import { Tops } from './tops.tsx';

/** What a country is called in a language; its code when that is none that has a name. */
const countryName = (code: string, language: string): string => {
  try {
    return new Intl.DisplayNames([language], { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
};

const to = (field: string, value: string): string => `/blocks?${new URLSearchParams({ [field]: value })}`;

/** How many there were when. */
const Bars = ({ statistics: { over_time, total, complete_since } }: { statistics: BlockStatistics }) => {
  const { t } = useTranslation('system');
  const most = Math.max(1, ...over_time.map(({ count, monitored }) => count + monitored));
  const from = formatMoment(complete_since);
  return (
    <Paper withBorder p="sm">
      <Group gap="md" mb={6}>
        <Text size="sm">
          <span className={classes.sign} />
          {t('overview.refusedSince', { count: total.count, shown: formatNumber(total.count), from })}
        </Text>
        {total.monitored > 0 && (
          <Text size="sm">
            <span className={classes.sign} data-monitored />
            {t('overview.onlyReported', { count: total.monitored, shown: formatNumber(total.monitored) })}
          </Text>
        )}
      </Group>
      <div className={classes.bars} aria-hidden>
        {over_time.map(({ at, count, monitored }) => (
          <div
            key={at}
            title={t('overview.inPart', {
              when: formatMoment(at),
              refused: formatNumber(count),
              monitored: formatNumber(monitored),
            })}
          >
            <div style={{ height: `${(monitored / most) * 100}%` }} data-monitored />
            <div style={{ height: `${(count / most) * 100}%` }} data-none={count + monitored === 0 || undefined} />
          </div>
        ))}
      </div>
    </Paper>
  );
};

const AllTops = ({ statistics: { hosts, rules, addresses, countries } }: { statistics: BlockStatistics }) => {
  const { t, i18n } = useTranslation('system');
  const nameOf = (code: string | null): string =>
    code === null ? t('overview.noCountry') : countryName(code, i18n.resolvedLanguage ?? 'en');
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 4 }} spacing="sm">
      <Tops
        title={t('overview.topHosts')}
        rows={hosts.map(({ host, ...counts }) => ({ name: host, to: to('host', host), ...counts }))}
      />
      <Tops
        title={t('overview.topRules')}
        rows={rules.map(({ rule_id, layer, message = '', ...counts }) => ({
          ...(rule_id === null
            ? { name: t(`overview.layers.${layer}`), to: to('layer', layer) }
            : { name: `${rule_id} ${message}`.trim(), to: to('search', String(rule_id)) }),
          ...counts,
        }))}
      />
      <Tops
        title={t('overview.topAddresses')}
        rows={addresses.map(({ ip, country, ...counts }) => ({
          name: country === null ? ip : `${ip} · ${nameOf(country)}`,
          to: to('ip', ip),
          ...counts,
        }))}
      />
      <Tops
        title={t('overview.topCountries')}
        rows={(countries ?? []).map(({ country, ...counts }) => ({
          name: nameOf(country),
          to: to('country', country ?? 'unknown'),
          ...counts,
        }))}
      >
        {countries === null && (
          <Text size="sm" c="dimmed">
            {t('overview.noCountries')}{' '}
            <Anchor component={Link} to="/guide/security#access-lists" inherit underline="always">
              {t('overview.getCountries')}
            </Anchor>
          </Text>
        )}
      </Tops>
    </SimpleGrid>
  );
};

interface RefusalsProps {
  blocks: NonNullable<Facts['blocks']>;
  statistics: BlockStatistics;
}

/** What was refused lately: over time, by host, rule, address and country, and the newest ones. */
export const Refusals = ({ blocks: { newest, total }, statistics }: RefusalsProps) => {
  const { t } = useTranslation('system');
  const isCut = statistics.complete_since !== statistics.since;
  const isAnyKept = statistics.complete_since !== statistics.until;
  const isAnyCounted = statistics.total.count + statistics.total.monitored > 0;
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
          {t(isAnyKept ? 'overview.noRefusals' : 'overview.noneKept')}
        </Text>
      ) : (
        <Stack gap="sm">
          <Bars statistics={statistics} />
          {isAnyCounted && (
            <>
              <Text size="xs" c="dimmed">
                {t('overview.ofAll')} {isCut && t('overview.olderDropped')}
              </Text>
              <AllTops statistics={statistics} />
            </>
          )}
          <Stack gap={4} component="ul" p={0} m={0}>
            {newest.map(({ reference, timestamp, host, request_uri, ip, method, reason }) => (
              <Group key={reference} component="li" gap="xs" wrap="nowrap" style={{ listStyle: 'none' }}>
                <Text size="sm" c="dimmed" miw={110}>
                  <Moment at={timestamp} />
                </Text>
                <Anchor component={Link} to={`/blocks/${reference}`} size="sm" className="foreign" truncate>
                  {ip} · {method} {host}
                  {request_uri}
                </Anchor>
                <Text size="sm" c="dimmed" className="foreign" truncate visibleFrom="md">
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
