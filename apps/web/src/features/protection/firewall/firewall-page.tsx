import './texts.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Page } from '../../../ui/page.tsx';
import { PageTabs } from '../../../ui/page-tabs.tsx';

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
  return (
    <Page title={t('title')} about={about} actions={actions}>
      <PageTabs tabs={TABS} labelOf={(name) => t(`tabs.${name}`)} />
      {children}
    </Page>
  );
};
