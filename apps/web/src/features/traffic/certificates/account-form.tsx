import { Checkbox, Group, PasswordInput, Select, Text, Textarea, TextInput } from '@mantine/core';
import type { AcmeAccountInUse } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { UsedByCertificates } from './used-by-certificates.tsx';

/** What the API calls well-known authorities; `other` has an address of its own. */
const AUTHORITIES = ['letsencrypt', 'letsencrypt-staging', 'zerossl', 'google', 'buypass', 'other'] as const;
type Authority = (typeof AUTHORITIES)[number];
/** They bind accounts to one that one has with them. */
const BINDING: readonly Authority[] = ['zerossl', 'google', 'other'];

const NEW = {
  authority: 'letsencrypt' as Authority,
  directory_url: '',
  name: '',
  email: '',
  terms_agreed: false,
  eab_kid: '',
  eab_hmac_key: '',
  ca_certificate: '',
};
type Typed = typeof NEW;

const NewAccount = () => {
  const { t } = useTranslation('traffic');
  const navigate = useNavigate();
  const { mutateAsync, isPending } = useChange(['/acme']);
  const object = useObjectForm<Typed>(
    'new',
    NEW,
    ({ authority, directory_url, name, eab_kid, eab_hmac_key, ...rest }) => {
      const isOther = authority === 'other';
      const isBound = BINDING.includes(authority);
      return mutateAsync({
        method: 'POST',
        path: '/acme/accounts',
        body: {
          directory_url: isOther ? directory_url : authority,
          name: name.trim() === '' && !isOther ? t(`accounts.authorities.${authority}`) : name,
          email: rest.email,
          terms_agreed: rest.terms_agreed,
          eab_kid: isBound && eab_kid !== '' ? eab_kid : null,
          eab_hmac_key: isBound && eab_hmac_key !== '' ? eab_hmac_key : null,
          ca_certificate: isOther && rest.ca_certificate.trim() !== '' ? rest.ca_certificate : null,
        },
      });
    },
  );
  const { form } = object;
  const { authority } = form.getValues();
  const close = () => void navigate('/certificates/accounts');
  return (
    <FormDrawer
      title={t('accounts.add')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('accounts.saved'));
        close();
      }}
      object={object}
      below={
        isPending && (
          <Text size="sm" c="dimmed" role="status">
            {t('accounts.registering')}
          </Text>
        )
      }
    >
      <Select
        label={t('accounts.authority')}
        data={AUTHORITIES.map((value) => ({ value, label: t(`accounts.authorities.${value}`) }))}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('authority')}
        error={authority === 'other' ? undefined : form.errors.directory_url}
      />
      {authority === 'other' && (
        <TextInput
          label={t('accounts.directory')}
          placeholder="https://ca.example.com/acme/directory"
          required
          {...form.getInputProps('directory_url')}
        />
      )}
      <TextInput
        label={t('accounts.email')}
        description={t('accounts.emailHint')}
        type="email"
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput
        label={t('accounts.name')}
        required={authority === 'other'}
        placeholder={authority === 'other' ? undefined : t(`accounts.authorities.${authority}`)}
        maxLength={100}
        {...form.getInputProps('name')}
      />
      {BINDING.includes(authority) && (
        <>
          <TextInput
            label={t('accounts.eabKid')}
            description={t('accounts.eabHint')}
            autoComplete="off"
            {...form.getInputProps('eab_kid')}
          />
          <PasswordInput
            label={t('accounts.eabKey')}
            autoComplete="new-password"
            {...form.getInputProps('eab_hmac_key')}
          />
        </>
      )}
      {authority === 'other' && (
        <Textarea
          label={t('accounts.ca')}
          description={t('accounts.caHint')}
          autosize
          minRows={2}
          maxRows={8}
          ff="monospace"
          {...form.getInputProps('ca_certificate')}
        />
      )}
      <Checkbox label={t('accounts.terms')} {...form.getInputProps('terms_agreed', { type: 'checkbox' })} />
    </FormDrawer>
  );
};

const Editor = ({ account, etag }: { account: AcmeAccountInUse; etag: string | undefined }) => {
  const { t } = useTranslation('traffic');
  const { isAdmin } = useWho();
  const navigate = useNavigate();
  const touches = ['/acme', '/certificates'];
  const { save, remove } = useStored({ list: '/acme/accounts', id: account.uuid, touches });
  const initial = { name: account.name, ca_certificate: account.ca_certificate ?? '' };
  const object = useObjectForm(
    account.uuid,
    initial,
    ({ name, ca_certificate }, version) =>
      save({ name, ca_certificate: ca_certificate.trim() === '' ? null : ca_certificate }, version),
    etag,
  );
  const { form } = object;
  const close = () => void navigate('/certificates/accounts');
  const removed = () => {
    notifyDone(t('accounts.removed', { name: account.name }));
    close();
  };
  return (
    <FormDrawer
      title={account.name}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('accounts.saved'));
        close();
      }}
      object={object}
      isReadOnly={!isAdmin}
      below={<UsedByCertificates title={t('accounts.usedBy', { count: account.used_by_total })} uses={account} />}
      more={
        isAdmin && (
          <DeleteButton title={t('accounts.remove', { name: account.name })} onDelete={() => remove().then(removed)}>
            {t('accounts.removeAbout')}
          </DeleteButton>
        )
      }
    >
      <TextInput label={t('accounts.name')} required data-autofocus {...form.getInputProps('name')} />
      <Group gap="lg">
        <div>
          <Text size="xs" c="dimmed">
            {t('accounts.authority')}
          </Text>
          <Text size="sm" className="foreign">
            {account.directory_url}
          </Text>
        </div>
        {account.email !== '' && (
          <div>
            <Text size="xs" c="dimmed">
              {t('accounts.email')}
            </Text>
            <Text size="sm" className="foreign">
              {account.email}
            </Text>
          </div>
        )}
      </Group>
      <Text size="sm" c="dimmed">
        {t('accounts.fixed')}
      </Text>
      <Textarea
        label={t('accounts.ca')}
        description={t('accounts.caHint')}
        autosize
        minRows={2}
        maxRows={8}
        ff="monospace"
        {...form.getInputProps('ca_certificate')}
      />
    </FormDrawer>
  );
};

/** Registers an account with an authority, or changes what only we know of one. */
export const AccountForm = () => {
  const { uuid } = useParams();
  return (
    <FormObject<AcmeAccountInUse> path={uuid && `/acme/accounts/${uuid}`}>
      {(account, etag) => (account ? <Editor account={account} etag={etag} /> : <NewAccount />)}
    </FormObject>
  );
};
