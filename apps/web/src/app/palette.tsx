import '@mantine/spotlight/styles.css';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import type { Certificate, ProxyHost } from '@sallyport/contract';
import { IconBook2, IconSearch, IconWorldWww } from '@tabler/icons-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useRead } from '../api/query.ts';
import { SECTIONS } from './views.ts';
import { useWho } from './who.ts';

/** So many of each kind are asked for. */
const MOST = 8;

/** Finds every screen, host and certificate by what is typed, and leads there. Opens on Ctrl-K. */
export const Palette = () => {
  const { t } = useTranslation(['common', 'views']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const isOn = text.trim().length > 1;
  const query = { search: text.trim(), per_page: MOST };
  const hosts = useRead<ProxyHost[]>('/proxy-hosts', { query, isOn });
  const certificates = useRead<Certificate[]>('/certificates', { query, isOn });

  const views: SpotlightActionData[] = SECTIONS.flatMap((section) => section.views)
    .filter((view) => isAdmin || !view.isAdmins)
    .map(({ path, name, icon: Icon }) => ({
      id: path,
      label: t(`views:${name}`),
      leftSection: <Icon size={17} aria-hidden />,
      onClick: () => void navigate(path),
    }));
  const guide: SpotlightActionData[] = SALLYPORT_GUIDE.map(([page, label]) => ({
    id: `/guide/${page}`,
    label,
    leftSection: <IconBook2 size={17} aria-hidden />,
    onClick: () => void navigate(`/guide/${page}`),
  }));
  const found = (label: string, path: string, id: string): SpotlightActionData => ({
    id: `${path}/${id}`,
    label,
    leftSection: <IconWorldWww size={17} aria-hidden />,
    // What the server found contains what was typed, but perhaps not here.
    keywords: text,
    onClick: () => void navigate(`${path}/${id}`),
  });
  const actions: SpotlightActionGroupData[] = [
    { group: t('screens'), actions: views },
    {
      group: t('views:hosts'),
      actions: (isOn ? hosts.data : undefined)?.map((one) => found(one.domain, '/hosts', one.uuid)) ?? [],
    },
    {
      group: t('views:certificates'),
      actions: (isOn ? certificates.data : undefined)?.map((one) => found(one.name, '/certificates', one.uuid)) ?? [],
    },
    { group: t('guide'), actions: guide },
  ];
  return (
    <Spotlight
      actions={actions.filter((group) => group.actions.length > 0)}
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K', 'mod + P']}
      nothingFound={t('nothingFound')}
      highlightQuery
      scrollable
      searchProps={{ leftSection: <IconSearch size={18} />, placeholder: t('palette'), 'aria-label': t('palette') }}
    />
  );
};
