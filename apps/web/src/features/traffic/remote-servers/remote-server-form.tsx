import { Anchor, Group, List, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core';
import type { RemoteServerInUse } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useWho } from '../../../app/who.ts';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Name } from '../../../ui/name.tsx';
import { notifyDone } from '../../../ui/notify.ts';

const PROVIDERS = ['generic', 'docker', 'kubernetes', 'aws', 'gcp', 'azure'];

const NEW = { name: '', host: '', port: 80 as number | string, provider: 'generic', enabled: true };
type Typed = typeof NEW;

const typedOf = ({ name, host, port, provider, enabled }: RemoteServerInUse): Typed => ({
  name,
  host,
  port,
  provider,
  enabled,
});

interface EditorProps {
  /** What is there; undefined for a new one. */
  server: RemoteServerInUse | undefined;
  /** Its version. */
  etag: string | undefined;
}

const Editor = ({ server, etag }: EditorProps) => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const touches = ['/remote-servers', '/proxy-hosts'];
  const { save, remove } = useStored({ list: '/remote-servers', id: server?.uuid, touches });
  const object = useObjectForm<Typed>(server?.uuid ?? 'new', server ? typedOf(server) : NEW, save, etag);
  const { form } = object;
  const close = () => void navigate('/servers');
  const removed = (name: string) => {
    notifyDone(t('servers.removed', { name }));
    close();
  };
  return (
    <FormDrawer
      title={server ? server.name : t('servers.add')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('servers.saved'));
        close();
      }}
      object={object}
      isReadOnly={!isAdmin}
      more={
        server &&
        isAdmin && (
          <DeleteButton
            title={t('servers.remove', { name: server.name })}
            onDelete={() => remove().then(() => removed(server.name))}
          >
            {t('servers.removeAbout')}
          </DeleteButton>
        )
      }
    >
      <TextInput label={t('servers.name')} required data-autofocus {...form.getInputProps('name')} />
      <Group grow preventGrowOverflow={false} align="flex-start">
        <TextInput label={t('servers.host')} required flex={2} {...form.getInputProps('host')} />
        <NumberInput
          label={t('servers.port')}
          required
          maw={120}
          min={1}
          max={65_535}
          allowDecimal={false}
          clampBehavior="none"
          hideControls
          {...form.getInputProps('port')}
        />
      </Group>
      <Select
        label={t('servers.provider')}
        data={PROVIDERS}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('provider')}
      />
      <Switch label={t('servers.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      {server && server.used_by_total > 0 && (
        <div>
          <Text size="sm" fw={500}>
            {t('servers.usedBy', { count: server.used_by_total })}
          </Text>
          <List size="sm">
            {server.used_by.map(({ uuid, domain }) => (
              <List.Item key={uuid}>
                <Anchor component={Link} to={`/hosts/${uuid}`} size="sm">
                  <Name>{domain}</Name>
                </Anchor>
              </List.Item>
            ))}
          </List>
        </div>
      )}
    </FormDrawer>
  );
};

/** Makes or changes a remote server: what the address of the screen names. */
export const RemoteServerForm = () => {
  const { uuid } = useParams();
  return (
    <FormObject<RemoteServerInUse> path={uuid && `/remote-servers/${uuid}`}>
      {(server, etag) => <Editor server={server} etag={etag} />}
    </FormObject>
  );
};
