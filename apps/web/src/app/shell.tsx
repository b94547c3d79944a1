import {
  ActionIcon,
  Anchor,
  AppShell,
  Burger,
  Group,
  Kbd,
  Loader,
  NavLink,
  ScrollArea,
  Text,
  Tooltip,
  UnstyledButton,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { lazy, Suspense, useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, Outlet, useLocation } from 'react-router';
import { IconBook2, IconSearch } from '../ui/icons.ts';
import { guideOf } from './guide-of.ts';
import icon from './icon.svg';
import { PendingConfirmation } from './pending-confirmation.tsx';
import { UnsavedGuard } from './unsaved-guard.tsx';
import { SECTIONS } from './views.ts';
import { useWho } from './who.ts';

// Not needed for the first look: they come right after.
const AccountMenu = lazy(async () => ({ default: (await import('./account-menu.tsx')).AccountMenu }));
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const openPalette = (): void => void import('@mantine/spotlight').then(({ spotlight }) => spotlight.open());

/** The frame of every screen: navigation, search for everything, the account, and the screen itself. */
export const Shell = () => {
  const { t } = useTranslation(['common', 'views']);
  const { pathname } = useLocation();
  const { isAdmin } = useWho();
  const [isOpen, { toggle, close }] = useDisclosure();
  const navigation = useRef<HTMLDivElement>(null);
  // Where the screen is low, the entry of a view may be out of sight, in the navigation that scrolls by itself.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another path is another entry
  useEffect(() => {
    navigation.current?.querySelector('[data-active]')?.scrollIntoView({ block: 'nearest' });
  }, [pathname]);
  return (
    <AppShell
      header={{ height: 52 }}
      navbar={{ width: 228, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a href="#content" className="skip-link">
        {t('skipToContent')}
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap">
          <Burger opened={isOpen} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t('navigation')} />
          <Anchor component={Link} to="/" underline="never" c="inherit" aria-label="Sallyport">
            <Group gap={8} wrap="nowrap">
              <img src={icon} alt="" width={26} height={26} />
              <Text fw={650} visibleFrom="xs">
                Sallyport
              </Text>
            </Group>
          </Anchor>
          <Group gap="xs" ml="auto" wrap="nowrap">
            <UnstyledButton onClick={openPalette} visibleFrom="sm" aria-label={t('palette')}>
              <Group gap={8} px="sm" py={5} bd="1px solid var(--mantine-color-default-border)" bdrs="sm">
                <IconSearch size={15} aria-hidden />
                <Text size="sm" c="dimmed">
                  {t('palette')}
                </Text>
                <Kbd size="xs">Ctrl K</Kbd>
              </Group>
            </UnstyledButton>
            <Tooltip label={t('palette')}>
              <ActionIcon variant="default" size="lg" hiddenFrom="sm" aria-label={t('palette')} onClick={openPalette}>
                <IconSearch size={17} />
              </ActionIcon>
            </Tooltip>
            <Tooltip label={t('guideToThis')}>
              <ActionIcon
                component={Link}
                to={guideOf(pathname) ?? '/guide'}
                variant="default"
                size="lg"
                aria-label={t('guideToThis')}
              >
                <IconBook2 size={17} />
              </ActionIcon>
            </Tooltip>
            <Suspense fallback={<ActionIcon variant="default" size="lg" aria-hidden tabIndex={-1} />}>
              <AccountMenu />
            </Suspense>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar aria-label={t('navigation')}>
        <AppShell.Section grow component={ScrollArea} p="xs" ref={navigation}>
          {SECTIONS.map(({ name, views }) => (
            <div key={name ?? ''}>
              {name && views.some((view) => isAdmin || !view.isAdmins) && (
                <Text size="xs" c="dimmed" fw={600} px="xs" pt="sm" pb={4}>
                  {t(`views:${name}`)}
                </Text>
              )}
              {views
                .filter((view) => isAdmin || !view.isAdmins)
                .map(({ path, name: view, icon: Icon }) => (
                  <NavLink
                    key={path}
                    component={Link}
                    to={path}
                    onClick={close}
                    label={t(`views:${view}`)}
                    leftSection={<Icon size={17} aria-hidden />}
                    active={path === '/' ? pathname === '/' : pathname.startsWith(path)}
                    aria-current={pathname === path ? 'page' : undefined}
                    py={6}
                    bdrs="sm"
                  />
                ))}
            </div>
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      <UnsavedGuard />
      <AppShell.Main id="content" tabIndex={-1}>
        <PendingConfirmation />
        <Suspense fallback={<Loader aria-label={t('loading')} />}>
          <Outlet />
        </Suspense>
      </AppShell.Main>
      <Suspense>
        <Palette />
      </Suspense>
    </AppShell>
  );
};
