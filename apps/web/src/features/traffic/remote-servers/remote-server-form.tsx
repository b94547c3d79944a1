import { Anchor, Button, Group, List, NumberInput, Select, Switch, Text, TextInput } from '@mantine/core';
import type { RemoteServerInUse } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate, useParams } from 'react-router';
import { useAnswer, useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';

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
  const { t } = useTranslation(['traffic', 'common']);
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  // What is saved is a change of what was shown at first, whatever was read behind the form since.
  const [shown] = useState(etag);
  const { mutateAsync } = useChange<RemoteServerInUse>(['/remote-servers', '/proxy-hosts']);
  const object = useObjectForm<Typed>(server?.uuid ?? 'new', server ? typedOf(server) : NEW, (body, isOverTheirs) =>
    server
      ? mutateAsync({
          method: 'PUT',
          path: `/remote-servers/${server.uuid}`,
          body,
          ifMatch: isOverTheirs ? undefined : shown,
        })
      : mutateAsync({ method: 'POST', path: '/remote-servers', body }),
  );
  const { form } = object;
  const close = () => void navigate('/servers');
  const remove = async ({ uuid, name }: RemoteServerInUse) => {
    await mutateAsync({ method: 'DELETE', path: `/remote-servers/${uuid}` });
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
          <Confirm
            title={t('servers.remove', { name: server.name })}
            action={t('common:delete')}
            onConfirm={() => remove(server)}
            trigger={(open) => (
              <Button variant="subtle" color="red" mr="auto" onClick={open}>
                {t('common:delete')}
              </Button>
            )}
          >
            {t('servers.removeAbout')}
          </Confirm>
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
                <Anchor component={Link} to={`/hosts/${uuid}`} size="sm" className="foreign">
                  {domain}
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
  const isNew = uuid === undefined;
  const { data, error } = useAnswer<RemoteServerInUse>(`/remote-servers/${uuid}`, { isOn: !isNew });
  if (isNew) return <Editor server={undefined} etag={undefined} />;
  if (error) return <Problem error={error} />;
  return data ? <Editor key={uuid} server={data.data} etag={data.etag} /> : null;
};
