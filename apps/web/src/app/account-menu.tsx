import { ActionIcon, Menu, Tooltip, useMantineColorScheme } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { Link } from 'react-router';
import { signOut } from '../api/sign-out.ts';
import { LANGUAGES, type Language, speak } from '../i18n/index.ts';
import {
  IconDeviceDesktop,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconSun,
  IconUser,
  IconUserCircle,
} from '../ui/icons.ts';
import { notifyFailed } from '../ui/notify.ts';
import { useWho } from './who.ts';

const SCHEMES = [
  { scheme: 'auto', icon: IconDeviceDesktop },
  { scheme: 'light', icon: IconSun },
  { scheme: 'dark', icon: IconMoon },
] as const;

/** Whose session this is, how the interface looks and speaks, and the way out. */
export const AccountMenu = () => {
  const { t, i18n } = useTranslation();
  const { user } = useWho();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const leave = () => void signOut().catch(notifyFailed);
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Tooltip label={t('account')}>
          <ActionIcon variant="default" size="lg" aria-label={t('account')}>
            <IconUserCircle size={18} />
          </ActionIcon>
        </Tooltip>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className="foreign">{user?.email}</Menu.Label>
        <Menu.Item component={Link} to="/account" leftSection={<IconUser size={15} />}>
          {t('ownAccount')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{t('appearance')}</Menu.Label>
        {SCHEMES.map(({ scheme, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            role="menuitemradio"
            aria-checked={colorScheme === scheme}
            fw={colorScheme === scheme ? 600 : undefined}
            leftSection={<Icon size={15} />}
            closeMenuOnClick={false}
            onClick={() => setColorScheme(scheme)}
          >
            {t(`scheme.${scheme}`)}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{t('language')}</Menu.Label>
        {(Object.keys(LANGUAGES) as Language[]).map((language) => (
          <Menu.Item
            key={language}
            lang={language}
            role="menuitemradio"
            aria-checked={i18n.resolvedLanguage === language}
            fw={i18n.resolvedLanguage === language ? 600 : undefined}
            leftSection={<IconLanguage size={15} />}
            onClick={() => void speak(language).catch(() => notifyFailed(t('missingPartHint')))}
          >
            {LANGUAGES[language]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={leave}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
