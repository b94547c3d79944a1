import { ActionIcon, Menu } from '@mantine/core';
import type { ProxyHost } from '@sallyport/contract';
import { useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLocation, useNavigate } from 'react-router';
import { IconCopy, IconDots, IconPencil, IconPlayerPause, IconPlayerPlay, IconTrash } from '../../../ui/icons.ts';
import { notifyFailed } from '../../../ui/notify.ts';
import classes from '../../../ui/table/row.module.css';
import { firstNameOf } from './addresses.ts';
import { useHostChanges } from './use-host-changes.tsx';

const DOTS = <IconDots size={17} aria-hidden />;

/** What can be done with one host without opening it. A list is drawn in half the time when only menus that somebody opens are made. */
export const HostMenu = ({ host, label }: { host: ProxyHost; label: string }) => {
  // Of this host alone: the same button may be another's after one has scrolled.
  const [wanted, setWanted] = useState<string>();
  if (wanted === host.uuid) return <WholeMenu host={host} />;
  // Nor does it open by itself when that host comes back to it.
  if (wanted !== undefined) setWanted(undefined);
  return (
    <button
      type="button"
      className={classes.action}
      aria-haspopup="menu"
      aria-label={label}
      onClick={() => setWanted(host.uuid)}
    >
      {DOTS}
    </button>
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
  const attempt = (work: Promise<void>) => void work.catch(notifyFailed);
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
          {DOTS}
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
