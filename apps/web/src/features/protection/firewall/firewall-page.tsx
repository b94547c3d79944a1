import './texts.ts';
import { Tabs } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { Page } from '../../../ui/page.tsx';

const TABS = [
  { name: 'judgement', path: '/firewall' },
  { name: 'rules', path: '/firewall/rules' },
  { name: 'exclusions', path: '/firewall/exclusions' },
  { name: 'hosts', path: '/firewall/hosts' },
] as const;

interface FirewallPageProps {
  /** One sentence about this part of it. */
  about: string;
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen of the firewall, beside the others. */
export const FirewallPage = ({ about, actions, children }: FirewallPageProps) => {
  const { t } = useTranslation('firewall');
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const active = TABS.findLast(({ path }) => pathname.startsWith(path))?.name ?? 'judgement';
  return (
    <Page title={t('title')} about={about} actions={actions}>
      <Tabs
        value={active}
        activateTabWithKeyboard={false}
        onChange={(name) => void navigate(TABS.find((tab) => tab.name === name)?.path ?? '/firewall')}
      >
        <Tabs.List>
          {TABS.map(({ name }) => (
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
