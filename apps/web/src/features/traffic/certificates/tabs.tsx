import { useTranslation } from 'react-i18next';
import { useWho } from '../../../app/who.ts';
import { PageTabs } from '../../../ui/page-tabs.tsx';

const TABS = [
  { name: 'list', path: '/certificates' },
  { name: 'accounts', path: '/certificates/accounts' },
  { name: 'providers', path: '/certificates/dns-providers', isAdmins: true },
  { name: 'authority', path: '/certificates/authority' },
] as const;

/** The screens of what certificates are made of, beside each other. */
export const CertificateTabs = () => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const shown = TABS.filter((tab) => isAdmin || !('isAdmins' in tab));
  return <PageTabs tabs={shown} labelOf={(name) => t(`certificates.tabs.${name}`)} />;
};
