import { Button, Group, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { DnsProviderInUse, DnsProviderTest, DnsProviderType } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { useAnswer, useChange, useRead } from '../../../api/query.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { StateBadge } from '../../../ui/state-badge.tsx';
import { UsedByCertificates } from './used-by-certificates.tsx';

interface Typed extends Record<string, unknown> {
  name: string;
  type: string;
  fields: Record<string, string>;
}

/** Has the provider write a record, and tells what came of it. */
const Trial = ({ uuid }: { uuid: string }) => {
  const { t } = useTranslation('traffic');
  const [zone, setZone] = useState('');
  const { mutateAsync, isPending, data, error } = useChange<DnsProviderTest>([]);
  const run = () =>
    void mutateAsync({ method: 'POST', path: `/dns-providers/${uuid}/test`, body: { zone: zone.trim() } }).catch(
      () => undefined,
    );
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="xs">
        <TextInput
          flex="1 1 14rem"
          label={t('dnsProviders.zone')}
          description={t('dnsProviders.testAbout')}
          placeholder="example.com"
          value={zone}
          maxLength={253}
          error={error?.message}
          onChange={({ currentTarget: { value } }) => setZone(value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            run();
          }}
        />
        <Button variant="default" loading={isPending} disabled={zone.trim() === ''} onClick={run}>
          {t('dnsProviders.test')}
        </Button>
      </Group>
      {data && !isPending && !error && (
        <Group gap="xs" role="status" align="flex-start">
          <StateBadge kind={data.data.ok ? 'good' : 'bad'}>
            {data.data.ok ? t('dnsProviders.works') : t('dnsProviders.fails')}
          </StateBadge>
          <Text size="sm" className="foreign">
            {data.data.message}
          </Text>
        </Group>
      )}
    </Stack>
  );
};

interface EditorProps {
  provider: DnsProviderInUse | undefined;
  etag: string | undefined;
  types: readonly DnsProviderType[];
}

const Editor = ({ provider, etag, types }: EditorProps) => {
  // What is saved is a change of what was shown at first, whatever was read behind the form since.
  const [shown] = useState(etag);
  const { t } = useTranslation(['traffic', 'common']);
  const navigate = useNavigate();
  const { mutateAsync } = useChange(['/dns-providers', '/certificates']);
  const initial: Typed = provider
    ? { name: provider.name, type: provider.type, fields: { ...provider.fields } }
    : { name: '', type: types[0]?.type ?? '', fields: {} };
  const object = useObjectForm<Typed>(provider?.uuid ?? 'new', initial, ({ name, type, fields }, isOverTheirs) => {
    const known = new Set(types.find((one) => one.type === type)?.fields.map(({ key }) => key));
    // What was typed for another type is not sent, and an empty secret keeps the one that is there.
    const given = Object.entries(fields).filter(([key, value]) => known.has(key) && value !== '');
    const body = { name, type, fields: Object.fromEntries(given) };
    return provider
      ? mutateAsync({
          method: 'PUT',
          path: `/dns-providers/${provider.uuid}`,
          body,
          ifMatch: isOverTheirs ? undefined : shown,
        })
      : mutateAsync({ method: 'POST', path: '/dns-providers', body });
  });
  const { form } = object;
  const values = form.getValues();
  const close = () => void navigate('/certificates/dns-providers');
  const remove = async ({ uuid, name }: DnsProviderInUse) => {
    await mutateAsync({ method: 'DELETE', path: `/dns-providers/${uuid}` });
    notifyDone(t('dnsProviders.removed', { name }));
    close();
  };
  const fields = types.find(({ type }) => type === values.type)?.fields ?? [];
  const refusal = typeof form.errors.fields === 'string' ? form.errors.fields : undefined;
  const [, wrongKey] = /^fields\.([\w-]+)/.exec(refusal ?? '') ?? [];
  const isPlaced = fields.some(({ key }) => key === wrongKey);
  const inputOf = ({ key, label, required }: DnsProviderType['fields'][number]) => ({
    label,
    required,
    value: values.fields[key] ?? '',
    error: wrongKey === key ? refusal : undefined,
    onChange: ({ currentTarget: { value } }: { currentTarget: { value: string } }) => {
      form.setFieldValue('fields', { ...values.fields, [key]: value });
      form.clearFieldError('fields');
    },
  });
  return (
    <FormDrawer
      title={provider ? provider.name : t('dnsProviders.add')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('dnsProviders.saved'));
        close();
      }}
      object={object}
      below={
        <>
          {refusal !== undefined && !isPlaced && <Problem error={new Error(refusal)} />}
          {provider && (
            <>
              <Trial uuid={provider.uuid} />
              <UsedByCertificates title={t('dnsProviders.usedBy', { count: provider.used_by_total })} uses={provider} />
            </>
          )}
        </>
      }
      more={
        provider && (
          <Confirm
            title={t('dnsProviders.remove', { name: provider.name })}
            action={t('common:delete')}
            onConfirm={() => remove(provider)}
            trigger={(open) => (
              <Button variant="subtle" color="red" mr="auto" onClick={open}>
                {t('common:delete')}
              </Button>
            )}
          >
            {t('dnsProviders.removeAbout')}
          </Confirm>
        )
      }
    >
      <TextInput label={t('dnsProviders.name')} required data-autofocus {...form.getInputProps('name')} />
      <Select
        label={t('dnsProviders.type')}
        data={types.map(({ type, name }) => ({ value: type, label: name }))}
        searchable
        allowDeselect={false}
        limit={200}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('type')}
      />
      {fields.map((field) =>
        field.secret ? (
          <PasswordInput
            key={field.key}
            autoComplete="new-password"
            placeholder={
              provider?.type === values.type && provider.secrets_set.includes(field.key)
                ? t('dnsProviders.isSet')
                : undefined
            }
            {...inputOf(field)}
            required={field.required && !(provider?.secrets_set.includes(field.key) === true)}
          />
        ) : (
          <TextInput key={field.key} autoComplete="off" {...inputOf(field)} />
        ),
      )}
    </FormDrawer>
  );
};

/** Makes or changes a DNS provider: what the address of the screen names. */
export const DnsProviderForm = () => {
  const { uuid } = useParams();
  const isNew = uuid === undefined;
  const { data: types, error: noTypes } = useRead<DnsProviderType[]>('/dns-providers/types');
  const { data, error } = useAnswer<DnsProviderInUse>(`/dns-providers/${uuid}`, { isOn: !isNew });
  if (noTypes ?? error) return <Problem error={noTypes ?? error} />;
  if (!types) return null;
  if (isNew) return <Editor provider={undefined} etag={undefined} types={types} />;
  return data ? <Editor key={uuid} provider={data.data} etag={data.etag} types={types} /> : null;
};
