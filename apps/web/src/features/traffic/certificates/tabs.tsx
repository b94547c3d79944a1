import { Tabs } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { useWho } from '../../../app/who.ts';

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
  const { pathname } = useLocation();
  const navigate = useNavigate();
  const shown = TABS.filter((tab) => isAdmin || !('isAdmins' in tab));
  const active = shown.findLast(({ path }) => pathname.startsWith(path))?.name ?? 'list';
  return (
    <Tabs
      value={active}
      activateTabWithKeyboard={false}
      onChange={(name) => void navigate(shown.find((tab) => tab.name === name)?.path ?? '/certificates')}
    >
      <Tabs.List>
        {shown.map(({ name }) => (
          <Tabs.Tab key={name} value={name}>
            {t(`certificates.tabs.${name}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
    </Tabs>
  );
};
