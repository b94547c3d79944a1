import { Alert, Anchor, Button, Radio, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import type { AcmeAccount, Certificate, DnsProvider, NewCertificateOrder, Preflight } from '@sallyport/contract';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Link, useNavigate } from 'react-router';
import { useChange, useRead } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { PreflightChecks } from './preflight-checks.tsx';

const KINDS = ['letsencrypt', 'internal'] as const;
const CHALLENGES = ['http-01', 'dns-01'] as const;
const KEY_TYPES = ['p256', 'p384', 'rsa2048', 'rsa4096'] as const;

const NEW = {
  provider: 'letsencrypt' as (typeof KINDS)[number],
  names: [] as string[],
  challenge: 'http-01' as (typeof CHALLENGES)[number],
  account_id: null as string | null,
  dns_provider_id: null as string | null,
  key_type: 'p256' as (typeof KEY_TYPES)[number],
  name: '',
};
type Typed = typeof NEW;

/** What is sent: nothing that has no use with the kind that was chosen. */
const orderOf = (typed: Typed): NewCertificateOrder => {
  const { provider, names, challenge, account_id, dns_provider_id, key_type, name } = typed;
  return {
    provider,
    names,
    key_type,
    ...(name.trim() === '' ? {} : { name }),
    ...(provider === 'internal'
      ? {}
      : {
          challenge,
          ...(account_id ? { account_id } : {}),
          ...(challenge === 'dns-01' && dns_provider_id ? { dns_provider_id } : {}),
        }),
  };
};

const choices = (all: readonly { uuid: string; name: string }[] | undefined) =>
  (all ?? []).map(({ uuid, name }) => ({ value: uuid, label: name }));

/** Orders a certificate, and goes on to where its steps are seen. */
export const OrderForm = () => {
  const { t } = useTranslation(['traffic', 'common']);
  const navigate = useNavigate();
  const ordered = useRef<string>(undefined);
  const { data: accounts } = useRead<AcmeAccount[]>('/acme/accounts');
  const { data: providers } = useRead<DnsProvider[]>('/dns-providers');
  const { mutateAsync } = useChange<{ certificate: Certificate }>(['/certificates']);
  const { mutateAsync: look } = useChange<Preflight>([]);
  const [looked, setLooked] = useState<{ at: string; found: Preflight }>();
  const object = useObjectForm<Typed>('new', NEW, async (typed) => {
    const body = orderOf(typed);
    const at = JSON.stringify(body);
    if (typed.provider !== 'internal' && looked?.at !== at) {
      const { data: found } = await look({ method: 'POST', path: '/certificates/preflight', body });
      setLooked({ at, found });
      if (!found.ok) throw new Error(t('ordering.obstacles'));
    }
    const { data } = await mutateAsync({ method: 'POST', path: '/certificates/order', body });
    ordered.current = data.certificate.uuid;
  });
  const { form } = object;
  const { provider, challenge } = form.getValues();
  const isPublic = provider === 'letsencrypt';
  const found = looked?.at === JSON.stringify(orderOf(form.getValues())) ? looked.found : undefined;
  return (
    <FormDrawer
      title={t('certificates.order')}
      isOpen
      onClose={() => void navigate('/certificates')}
      onSaved={() => {
        notifyDone(t('certificates.renewing'));
        void navigate(`/certificates/${ordered.current}`);
      }}
      object={object}
      action={found?.ok === false ? t('ordering.nevertheless') : t('ordering.submit')}
      below={
        object.isSaving && isPublic ? (
          <Text size="sm" c="dimmed" role="status">
            {t('ordering.looking')}
          </Text>
        ) : (
          found && <PreflightChecks checks={found.checks} />
        )
      }
    >
      <TagsInput
        label={t('ordering.names')}
        description={t('ordering.namesHint')}
        required
        data-autofocus
        acceptValueOnBlur
        splitChars={[',', ' ', ';']}
        placeholder="www.example.com"
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('names')}
      />
      <Radio.Group label={t('ordering.kind')} {...form.getInputProps('provider')}>
        <Stack gap={6} mt={6}>
          {KINDS.map((kind) => (
            <Radio key={kind} value={kind} label={t(`ordering.kinds.${kind}`)} />
          ))}
        </Stack>
      </Radio.Group>
      {isPublic && accounts?.length === 0 && (
        <Alert color="yellow" title={t('ordering.noAccount')}>
          <Text size="sm">{t('ordering.noAccountHint')}</Text>
          <Button component={Link} to="/certificates/accounts/new" size="xs" mt="xs">
            {t('ordering.addAccount')}
          </Button>
        </Alert>
      )}
      {isPublic && (
        <>
          <Radio.Group label={t('certificates.challenge')} {...form.getInputProps('challenge')}>
            <Stack gap={6} mt={6}>
              {CHALLENGES.map((one) => (
                <Radio key={one} value={one} label={t(`certificates.challenges.${one}`)} />
              ))}
            </Stack>
          </Radio.Group>
          {challenge === 'dns-01' && (
            <div>
              <Select
                label={t('certificates.provider')}
                data={choices(providers)}
                clearable
                comboboxProps={{ withinPortal: false }}
                {...form.getInputProps('dns_provider_id')}
              />
              {providers?.length === 0 && (
                <Text size="sm" mt={4}>
                  {t('ordering.noProvider')}{' '}
                  <Anchor component={Link} to="/certificates/dns-providers/new" size="sm">
                    {t('ordering.addProvider')}
                  </Anchor>
                </Text>
              )}
            </div>
          )}
          {accounts && accounts.length > 0 && (
            <Select
              label={t('certificates.account')}
              placeholder={t('ordering.onlyAccount')}
              data={choices(accounts)}
              clearable
              comboboxProps={{ withinPortal: false }}
              {...form.getInputProps('account_id')}
            />
          )}
        </>
      )}
      <Select
        label={t('certificates.keyType')}
        data={KEY_TYPES.map((value) => ({ value, label: t(`certificates.keyTypes.${value}`) }))}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('key_type')}
      />
      <TextInput
        label={t('ordering.label')}
        description={t('ordering.labelHint')}
        maxLength={255}
        {...form.getInputProps('name')}
      />
    </FormDrawer>
  );
};
