import { ActionIcon, Menu } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import { IconCopy, IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { notifyFailed } from '../../../ui/notify.ts';
import { firstNameOf } from './addresses.ts';
import { useHostChanges } from './use-host-changes.tsx';

/** What can be done with one host without opening it. A list is drawn in half the time when only menus that somebody opens are made. */
export const HostMenu = ({ host }: { host: ProxyHost }) => {
  const { t } = useTranslation('traffic');
  const [isWanted, setWanted] = useState(false);
  if (isWanted) return <WholeMenu host={host} />;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-haspopup="menu"
      aria-label={t('hosts.actionsOf', { name: firstNameOf(host) })}
      onClick={() => setWanted(true)}
    >
      <IconDots size={17} aria-hidden />
    </ActionIcon>
  );
};

/** Opens as soon as it is there, and gives the focus back to its button. */
const WholeMenu = ({ host }: { host: ProxyHost }) => {
  const { t } = useTranslation(['traffic', 'common']);
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus();
    setOpen(true);
  }, []);
  const navigate = useNavigate();
  const { search } = useLocation();
  const { change, remove, done } = useHostChanges();
  const { uuid, enabled } = host;
  const attempt = (work: Promise<void>) =>
    void work.catch((error: Error & { details?: string }) =>
      notifyFailed(error.details === undefined ? error.message : `${error.message}: ${error.details}`),
    );
  return (
    <Menu position="bottom-end" width={200} opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <ActionIcon
          ref={button}
          variant="subtle"
          color="gray"
          loading={done !== null}
          aria-label={t('hosts.actionsOf', { name: firstNameOf(host) })}
        >
          <IconDots size={17} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item
          leftSection={<IconPencil size={15} aria-hidden />}
          onClick={() => void navigate({ pathname: `/hosts/${uuid}`, search })}
        >
          {t('common:edit')}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconCopy size={15} aria-hidden />}
          onClick={() =>
            void navigate(`/hosts/new?${new URLSearchParams([...new URLSearchParams(search), ['like', uuid]])}`)
          }
        >
          {t('hosts.clone')}
        </Menu.Item>
        <Menu.Item
          leftSection={enabled ? <IconPlayerPause size={15} aria-hidden /> : <IconPlayerPlay size={15} aria-hidden />}
          onClick={() => attempt(change([host], { enabled: !enabled }))}
        >
          {t(enabled ? 'hosts.disable' : 'hosts.enable')}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          color="red"
          leftSection={<IconTrash size={15} aria-hidden />}
          onClick={() => attempt(remove([host]))}
        >
          {t('common:delete')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
};
