import { Button, Group, NativeSelect, Paper, Text, TextInput } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import type { LogEntry, LogLevel, LogSource } from '@sallyport/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { formatNumber } from '../../../i18n/formats.ts';
import { IconArrowDown, IconCopy, IconPlayerPause, IconPlayerPlay } from '../../../ui/icons.ts';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Page } from '../../../ui/page.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { Entry } from './entry.tsx';
import { type Feed, type Line, openFeed } from './feed.ts';
import { Lines } from './lines.tsx';

const LEVELS: readonly LogLevel[] = ['info', 'warn', 'error'];
const SOURCES: readonly LogSource[] = ['guard', 'waf', 'crowdsec', 'acl'];
const NOTHING: Feed = { state: 'connecting', lines: [], waiting: 0, isPaused: false };

const has = (value: unknown, wanted: string): boolean =>
  wanted === '' || (typeof value === 'string' && value.toLowerCase().includes(wanted));

/** What is read of the log, by level and source; another choice begins anew. */
const useFeed = (level: string, source: string) => {
  const [feed, setFeed] = useState(NOTHING);
  const control = useRef<ReturnType<typeof openFeed>>(undefined);
  const client = useQueryClient();
  useEffect(() => {
    setFeed(NOTHING);
    const query = {
      level: (level || undefined) as LogLevel | undefined,
      source: (source || undefined) as LogSource | undefined,
    };
    // A connection also ends when its session does, which the gate of the interface is to know.
    const opened = openFeed(query, setFeed, () => void client.invalidateQueries({ queryKey: ['auth', 'me'] }));
    control.current = opened;
    return () => opened.close();
  }, [level, source, client]);
  return { feed, pause: (isPaused: boolean) => control.current?.pause(isPaused) };
};

const FeedState = ({ feed: { state, isPaused, waiting } }: { feed: Feed }) => {
  const { t } = useTranslation('protection');
  if (state === 'lost') {
    return (
      <StateBadge kind="bad" why={t('logs.lostWhy')}>
        {t('logs.lost')}
      </StateBadge>
    );
  }
  if (isPaused) {
    return (
      <StateBadge kind="warning">
        {waiting === 0 ? t('logs.pausedNone') : t('logs.paused', { count: waiting, shown: formatNumber(waiting) })}
      </StateBadge>
    );
  }
  return (
    <StateBadge kind={state === 'live' ? 'good' : 'waiting'}>
      {t(state === 'live' ? 'logs.live' : 'logs.connecting')}
    </StateBadge>
  );
};

/** The live log: what the suite decides, while it does. */
export const Logs = () => {
  const { t } = useTranslation('protection');
  const [level, setLevel] = useState('');
  const [source, setSource] = useState('');
  const [host, setHost] = useState('');
  const [address, setAddress] = useState('');
  const [text, setText] = useState('');
  const [isFollowing, setFollowing] = useState(true);
  const [opened, setOpened] = useState<LogEntry>();
  const { feed, pause } = useFeed(level, source);
  const clipboard = useClipboard();

  const shown = useMemo(() => {
    const [wantedHost, wantedAddress, wantedText] = [host, address, text].map((one) => one.trim().toLowerCase()) as [
      string,
      string,
      string,
    ];
    if (wantedHost === '' && wantedAddress === '' && wantedText === '') return feed.lines;
    return feed.lines.filter(
      ({ entry: { fields }, text: all }) =>
        has(fields.host, wantedHost) && has(fields.ip, wantedAddress) && all.includes(wantedText),
    );
  }, [feed.lines, host, address, text]);

  const copy = () => {
    // Without a secure connection browsers have no clipboard for pages.
    if (navigator.clipboard === undefined) return notifyFailed(t('logs.copyFailed'));
    clipboard.copy(shown.map(({ entry }) => JSON.stringify(entry)).join('\n'));
    notifyDone(t('logs.shown', { shown: formatNumber(shown.length), count: feed.lines.length }));
  };
  const open = ({ entry }: Line) => setOpened(entry);
  const texts = [
    [t('logs.host'), host, setHost],
    [t('logs.address'), address, setAddress],
    [t('logs.text'), text, setText],
  ] as const;
  const actions = (
    <>
      <Button
        variant="default"
        leftSection={feed.isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
        onClick={() => pause(!feed.isPaused)}
      >
        {t(feed.isPaused ? 'logs.resume' : 'logs.pause')}
      </Button>
      <Button variant="default" leftSection={<IconCopy size={16} />} onClick={copy}>
        {t('logs.copyShown')}
      </Button>
    </>
  );
  return (
    <Page title={t('logs.title')} about={t('logs.about')} actions={actions}>
      <Group gap="xs">
        <NativeSelect
          aria-label={t('logs.level')}
          value={level}
          onChange={({ currentTarget }) => setLevel(currentTarget.value)}
          data={[
            { value: '', label: t('logs.levelAll') },
            ...LEVELS.map((one) => ({
              value: one,
              label:
                one === 'error' ? t('logs.levels.error') : t('logs.levelAtLeast', { level: t(`logs.levels.${one}`) }),
            })),
          ]}
        />
        <NativeSelect
          aria-label={t('logs.source')}
          value={source}
          onChange={({ currentTarget }) => setSource(currentTarget.value)}
          data={[
            { value: '', label: t('logs.sourceAll') },
            ...SOURCES.map((one) => ({ value: one, label: t(`logs.sources.${one}`) })),
          ]}
        />
        {texts.map(([label, value, set]) => (
          <TextInput
            key={label}
            flex="1 1 8rem"
            maw={260}
            type="search"
            aria-label={label}
            placeholder={label}
            value={value}
            onChange={({ currentTarget }) => set(currentTarget.value)}
          />
        ))}
      </Group>
      <Group gap="xs" mih={30}>
        <FeedState feed={feed} />
        <Text size="sm" c="dimmed">
          {t('logs.shown', { shown: formatNumber(shown.length), count: feed.lines.length })}
        </Text>
        {!isFollowing && (
          <Button
            size="compact-sm"
            variant="light"
            ml="auto"
            leftSection={<IconArrowDown size={14} />}
            onClick={() => setFollowing(true)}
          >
            {t('logs.follow')}
          </Button>
        )}
      </Group>
      {shown.length === 0 ? (
        <Paper withBorder p="xl" radius="md">
          <Text c="dimmed" ta="center" size="sm">
            {t(feed.lines.length === 0 ? 'logs.empty' : 'logs.noMatch')}
          </Text>
        </Paper>
      ) : (
        <Lines lines={shown} isFollowing={isFollowing} onFollow={setFollowing} onOpen={open} />
      )}
      <Entry entry={opened} onClose={() => setOpened(undefined)} />
    </Page>
  );
};
