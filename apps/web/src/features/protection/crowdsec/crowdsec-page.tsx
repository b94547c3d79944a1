import './texts.ts';
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';

const TABS = [
  { name: 'state', path: '/crowdsec' },
  { name: 'presets', path: '/crowdsec/presets' },
  { name: 'console', path: '/crowdsec/console', isAdmins: true },
] as const;

/** A screen of CrowdSec, beside the others. */
export const CrowdsecPage = ({ about, children }: { about: string; children: ReactNode }) => {
  const { t } = useTranslation('crowdsec');
  const { isAdmin } = useWho();
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const shown = TABS.filter((tab) => isAdmin || !('isAdmins' in tab));
  const active = shown.findLast(({ path }) => pathname.startsWith(path))?.name ?? 'state';
  return (
    <Page title={t('title')} about={about}>
      <Tabs
        value={active}
        activateTabWithKeyboard={false}
        onChange={(name) => void navigate(shown.find((tab) => tab.name === name)?.path ?? '/crowdsec')}
      >
        <Tabs.List>
          {shown.map(({ name }) => (
            <Tabs.Tab key={name} value={name}>
              {t(`tabs.${name}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
      </Tabs>
      {children}
    </Page>
  );
};
