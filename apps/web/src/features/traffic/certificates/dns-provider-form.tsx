import { Button, Group, PasswordInput, Select, Stack, Text, TextInput } from '@mantine/core';
import type { DnsProviderInUse, DnsProviderTest, DnsProviderType } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useChange, useRead } from '../../../api/query.ts';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
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
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const touches = ['/dns-providers', '/certificates'];
  const { save, remove } = useStored({ list: '/dns-providers', id: provider?.uuid, touches });
  const initial: Typed = provider
    ? { name: provider.name, type: provider.type, fields: { ...provider.fields } }
    : { name: '', type: types[0]?.type ?? '', fields: {} };
  const object = useObjectForm<Typed>(
    provider?.uuid ?? 'new',
    initial,
    ({ name, type, fields }, version) => {
      const known = new Set(types.find((one) => one.type === type)?.fields.map(({ key }) => key));
      // What was typed for another type is not sent, and an empty secret keeps the one that is there.
      const given = Object.entries(fields).filter(([key, value]) => known.has(key) && value !== '');
      return save({ name, type, fields: Object.fromEntries(given) }, version);
    },
    etag,
  );
  const { form } = object;
  const values = form.getValues();
  const close = () => void navigate('/certificates/dns-providers');
  const removed = (name: string) => {
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
          <DeleteButton
            title={t('dnsProviders.remove', { name: provider.name })}
            onDelete={() => remove().then(() => removed(provider.name))}
          >
            {t('dnsProviders.removeAbout')}
          </DeleteButton>
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
  const { data: types, error } = useRead<DnsProviderType[]>('/dns-providers/types');
  if (!types) return <Problem error={error} />;
  return (
    <FormObject<DnsProviderInUse> path={uuid && `/dns-providers/${uuid}`}>
      {(provider, etag) => <Editor provider={provider} etag={etag} types={types} />}
    </FormObject>
  );
};
