import { Box, Button, Group, Stack, Text } from '@mantine/core';
import type { ProxyHost, SecurityConfigAnswer, WafExclusion } from '@sallyport/contract';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useNavigate } from 'react-router';
import { ApiError } from '../../../../api/api-error.ts';
import { ask } from '../../../../api/client.ts';
import { useChange, useRead } from '../../../../api/query.ts';
import { useWho } from '../../../../app/who.ts';
import { Empty } from '../../../../ui/empty.tsx';
import { IconPlus } from '../../../../ui/icons.ts';
import { Moment } from '../../../../ui/moment.tsx';
import { notifyFailed } from '../../../../ui/notify.ts';
import { Problem } from '../../../../ui/problem.tsx';
import { StateBadge } from '../../../../ui/state-badge.tsx';
import { TableBar } from '../../../../ui/table/table-bar.tsx';
import { batchOf, offerUndo } from '../../../../ui/undo.tsx';
import { TOUCHED, useConfig } from '../../security/stored.ts';
import { FirewallPage } from '../firewall-page.tsx';
import classes from './exclusions.module.css';
import { InWords, namesOf, useInWords } from './in-words.tsx';

const keyOf = ({ rule_id, target, host_uuid, path, expires_at }: WafExclusion): string =>
  JSON.stringify([rule_id, target, host_uuid, path, expires_at]);

const without = (all: readonly WafExclusion[], one: WafExclusion): WafExclusion[] =>
  all.filter((other) => keyOf(other) !== keyOf(one));

/** Takes one exclusion out of those that there are, also of those that somebody else made meanwhile. */
const useTakeBack = () => {
  const { mutateAsync } = useChange<SecurityConfigAnswer>(TOUCHED);
  return async (all: readonly WafExclusion[], one: WafExclusion, etag: string | undefined) => {
    const send = (waf_exclusions: WafExclusion[], ifMatch: string | undefined) =>
      mutateAsync({ method: 'POST', path: '/security/config', body: { waf_exclusions }, ifMatch });
    try {
      return await send(without(all, one), etag);
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 412)) throw error;
      const fresh = await ask<SecurityConfigAnswer>('GET', '/security/config');
      return send(without(fresh.data.config?.waf_exclusions ?? [], one), fresh.etag);
    }
  };
};

/** Until when it holds. */
const Ends = ({ exclusion: { expires_at } }: { exclusion: WafExclusion }) => {
  const { t } = useTranslation('firewall');
  if (expires_at === undefined) return null;
  if (Date.parse(expires_at) <= Date.now()) return <StateBadge kind="off">{t('ended')}</StateBadge>;
  return (
    <Text size="sm" c="dimmed">
      {t('ends')} <Moment at={expires_at} />
    </Text>
  );
};

/** What the firewall overlooks, each in words. The form of another one is beside the list, at an address of its own. */
export const Exclusions = () => {
  const { t } = useTranslation(['firewall', 'common']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const [search, setSearch] = useState('');
  const { data, error, refetch } = useConfig();
  const hosts = useRead<ProxyHost[]>('/proxy-hosts');
  const names = useMemo(() => namesOf(hosts.data), [hosts.data]);
  const inWords = useInWords(names);
  const takeBack = useTakeBack();
  const rows = data && (data.data.config?.waf_exclusions ?? []);

  const remove = (exclusion: WafExclusion) =>
    void takeBack(rows ?? [], exclusion, data?.etag).then(
      (answer) => offerUndo(t('takenBack', { rule: exclusion.rule_id }), [batchOf(answer)], TOUCHED),
      notifyFailed,
    );

  const wanted = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (rows ?? []).filter((exclusion) => {
    const text = `${inWords(exclusion)} ${exclusion.description ?? ''}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });

  const add = isAdmin && (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={() => void navigate('/firewall/exclusions/new')}>
      {t('exclude')}
    </Button>
  );
  return (
    <FirewallPage about={t('exclusionsAbout')} actions={rows?.length !== 0 && add}>
      <Problem error={error} onRetry={() => void refetch()} />
      {rows?.length === 0 ? (
        <Empty
          title={t('noExclusions')}
          action={
            <Group gap="xs" justify="center">
              {isAdmin && (
                <Button component={Link} to="/blocks?layer=waf" variant="default">
                  {t('toBlocks')}
                </Button>
              )}
              {add}
            </Group>
          }
        >
          {t('noExclusionsAbout')}
        </Empty>
      ) : (
        <>
          <TableBar search={search} onSearch={setSearch} count={rows?.length} />
          <Stack component="ul" gap={0} className={classes.list} aria-label={t('tabs.exclusions')}>
            {found.map((exclusion) => (
              <li key={keyOf(exclusion)} className={classes.row}>
                <Box flex="1 1 18rem">
                  <InWords exclusion={exclusion} names={names} />
                  <Text size="xs" c="dimmed" className="foreign">
                    {exclusion.description}
                  </Text>
                </Box>
                <Group gap="sm" wrap="nowrap">
                  <Ends exclusion={exclusion} />
                  {isAdmin && (
                    <Button
                      size="compact-sm"
                      variant="default"
                      aria-label={t('takeBackOf', { rule: exclusion.rule_id })}
                      onClick={() => remove(exclusion)}
                    >
                      {t('takeBack')}
                    </Button>
                  )}
                </Group>
              </li>
            ))}
          </Stack>
          {rows && found.length === 0 && <Text c="dimmed">{t('common:nothingFound')}</Text>}
        </>
      )}
      <Outlet />
    </FirewallPage>
  );
};
