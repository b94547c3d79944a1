import { Group, Loader, NavLink, Paper, Stack, Text, TextInput, Title } from '@mantine/core';
import type { DescribedSetting } from '@sallyport/contract';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../../api/query.ts';
import { IconSearch } from '../../../ui/icons.ts';
import { Page } from '../../../ui/page.tsx';
import { Problem } from '../../../ui/problem.tsx';
import { useHash } from '../../../ui/use-hash.ts';
import { useDescription } from './description.ts';
import { grouped } from './groups.ts';
import { MailTest } from './mail-test.tsx';
import { SettingField } from './setting-field.tsx';
import { UrlTools } from './url-tools.tsx';

/** Everything that can be set, in groups, described by the server. Each setting is saved by itself. */
export const Settings = () => {
  const { t } = useTranslation(['system', 'common']);
  const hash = useHash();
  const [search, setSearch] = useState('');
  const { data, error, refetch } = useRead<{ settings: DescribedSetting[] }>('/settings');
  const isRead = data !== undefined;
  // The page is asked for a setting before it has any.
  useEffect(() => {
    if (!isRead || hash === '') return;
    const place = document.getElementById(hash);
    place?.scrollIntoView({ block: 'center' });
    place?.querySelector<HTMLElement>('input, textarea, button')?.focus();
  }, [isRead, hash]);
  const descriptionOf = useDescription();
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = data?.settings.filter((setting) =>
    words.every((word) => `${setting.key} ${descriptionOf(setting)}`.toLowerCase().includes(word)),
  );
  const groups = grouped(found ?? []);
  return (
    <Page title={t('settings.title')} about={t('settings.about')}>
      <Problem error={error} onRetry={() => void refetch()} />
      <TextInput
        type="search"
        maw={420}
        aria-label={t('common:search')}
        placeholder={t('common:search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search}
        onChange={({ currentTarget }) => setSearch(currentTarget.value)}
      />
      {!data && !error && <Loader aria-label={t('common:loading')} />}
      {data && groups.length === 0 && <Text c="dimmed">{t('noMatch')}</Text>}
      <Group align="flex-start" gap="xl" wrap="nowrap">
        <Stack gap="md" flex={1} miw={0} maw={820}>
          {groups.map(({ name, settings }) => (
            <Paper key={name} withBorder p="md" component="section" id={`group-${name}`}>
              <Title order={2}>{t(`settings.groups.${name}`)}</Title>
              <Text size="sm" c="dimmed" mb="md">
                {t(`settings.groupsAbout.${name}`)}
              </Text>
              <Stack gap="lg">
                {settings.map((setting) => (
                  <div key={setting.key} id={setting.key}>
                    <SettingField setting={{ ...setting, description: descriptionOf(setting) }}>
                      {(typed) => (setting.key === 'app.public_url' ? <UrlTools url={typed} /> : null)}
                    </SettingField>
                  </div>
                ))}
                {name === 'mail' && <MailTest />}
              </Stack>
            </Paper>
          ))}
        </Stack>
        <Stack gap={2} w={200} visibleFrom="lg" pos="sticky" top={68} component="nav" aria-label={t('settings.title')}>
          {groups.map(({ name }) => (
            <NavLink key={name} href={`#group-${name}`} label={t(`settings.groups.${name}`)} py={4} bdrs="sm" />
          ))}
        </Stack>
      </Group>
    </Page>
  );
};
