import '@mantine/spotlight/styles.css';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import type { Certificate, DescribedSetting, ProxyHost } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../api/query.ts';
import { type Icon, IconBook2, IconCertificate, IconSearch, IconSettings, IconWorldWww } from '../ui/icons.ts';
import { ACTIONS } from './actions.ts';
import { guideTitles } from './guide-titles.ts';
import { SECTIONS } from './views.ts';
import { useWho } from './who.ts';

/** So many of each kind are asked for. */
const MOST = 8;
const TYPING_MS = 150;

/** Finds every screen, action, host, certificate, setting and page of the guide by what is typed, and leads there. Opens on Ctrl-K. */
export const Palette = () => {
  const { t, i18n } = useTranslation(['common', 'views']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const [asked] = useDebouncedValue(text.trim(), TYPING_MS);
  const isOn = asked.length > 1;
  const query = { search: asked, per_page: MOST };
  const hosts = useRead<ProxyHost[]>('/proxy-hosts', { query, isOn });
  const certificates = useRead<Certificate[]>('/certificates', { query, isOn });
  const settings = useRead<{ settings: DescribedSetting[] }>('/settings', { isOn: isOn && isAdmin });

  const entry = (label: string, path: string, Icon: Icon, lang?: string): SpotlightActionData => ({
    id: path,
    label,
    ...(lang === undefined || lang === i18n.resolvedLanguage ? {} : { lang }),
    leftSection: <Icon size={17} aria-hidden />,
    onClick: () => void navigate(path),
  });
  /** Of what the server found for what was asked: it contains that, but perhaps not in its name. */
  const found = <T,>({ data, isPlaceholderData }: { data?: T[] | undefined; isPlaceholderData: boolean }) =>
    isOn && !isPlaceholderData ? (data ?? []) : [];
  const isAllowed = ({ isAdmins }: { isAdmins?: boolean }): boolean => isAdmin || isAdmins !== true;

  const groups: SpotlightActionGroupData[] = [
    {
      group: t('screens'),
      actions: SECTIONS.flatMap(({ views }) => views)
        .filter(isAllowed)
        .map(({ path, name, icon }) => entry(t(`views:${name}`), path, icon)),
    },
    {
      group: t('actionsTitle'),
      actions: ACTIONS.filter(isAllowed).map(({ path, name, icon }) => ({
        ...entry(t(`actions.${name}`), path, icon),
        id: `action ${path}`,
      })),
    },
    {
      group: t('views:hosts'),
      actions: found(hosts).map(({ domain, uuid }) => ({
        ...entry(domain, `/hosts/${uuid}`, IconWorldWww),
        keywords: asked,
      })),
    },
    {
      group: t('views:certificates'),
      actions: found(certificates).map(({ name, uuid }) => ({
        ...entry(name, `/certificates/${uuid}`, IconCertificate),
        keywords: asked,
      })),
    },
    {
      group: t('views:settings'),
      actions: (isOn ? (settings.data?.settings ?? []) : []).map(({ key, description }) => ({
        ...entry(key, `/settings#${key}`, IconSettings, 'en'),
        description,
      })),
    },
    {
      group: t('guide'),
      actions: guideTitles(i18n.resolvedLanguage ?? 'en').map(({ name, title, language }) =>
        entry(title, `/guide/${name}`, IconBook2, language),
      ),
    },
  ];
  return (
    <Spotlight
      actions={groups.filter(({ actions }) => actions.length > 0)}
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K', 'mod + P']}
      // Fields, too: a form that is opened has the focus in its first one.
      tagsToIgnore={[]}
      nothingFound={t('nothingFound')}
      highlightQuery
      scrollable
      searchProps={{ leftSection: <IconSearch size={18} />, placeholder: t('palette'), 'aria-label': t('palette') }}
    />
  );
};
