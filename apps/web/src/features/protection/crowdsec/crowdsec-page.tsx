import './texts.ts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useWho } from '../../../app/who.ts';
import { Page } from '../../../ui/page.tsx';
import { PageTabs } from '../../../ui/page-tabs.tsx';

const TABS = [
  { name: 'state', path: '/crowdsec' },
  { name: 'presets', path: '/crowdsec/presets' },
  { name: 'console', path: '/crowdsec/console', isAdmins: true },
] as const;

/** A screen of CrowdSec, beside the others. */
export const CrowdsecPage = ({ about, children }: { about: string; children: ReactNode }) => {
  const { t } = useTranslation('crowdsec');
  const { isAdmin } = useWho();
  const shown = TABS.filter((tab) => isAdmin || !('isAdmins' in tab));
  return (
    <Page title={t('title')} about={about}>
      <PageTabs tabs={shown} labelOf={(name) => t(`tabs.${name}`)} />
      {children}
    </Page>
  );
};
