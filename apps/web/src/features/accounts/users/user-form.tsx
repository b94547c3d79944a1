import { Button, Group, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { NewUser, ResentInvite, User, UserPatch } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { useStored } from '../../../api/object.ts';
import { useChange } from '../../../api/query.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { DeleteButton } from '../../../ui/delete-button.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { FormObject } from '../../../ui/form/form-object.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { InvitationLink } from './invitation-link.tsx';
import { RoleField } from './role-field.tsx';

const Adding = () => {
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const { mutateAsync } = useChange(['/users']);
  const empty: Required<NewUser> = { email: '', name: '', password: '', role: 'user' };
  const object = useObjectForm('', empty, (body) => mutateAsync({ method: 'POST', path: '/users', body }));
  const { form } = object;
  const close = () => void navigate('/users');
  return (
    <FormDrawer
      title={t('users.add')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('users.added'));
        close();
      }}
      object={object}
    >
      <TextInput
        label={t('users.email')}
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput label={t('name')} autoComplete="off" {...form.getInputProps('name')} />
      <RoleField {...form.getInputProps('role')} />
      <PasswordInput
        label={t('password')}
        description={t('setup.passwordHint')}
        autoComplete="new-password"
        required
        {...form.getInputProps('password')}
      />
    </FormDrawer>
  );
};

/** What is done to a user at once, without the form. */
const Deeds = ({ user }: { user: User }) => {
  const { t } = useTranslation(['accounts', 'common']);
  const [invite, setInvite] = useState<ResentInvite>();
  const { mutateAsync, isPending } = useChange<ResentInvite>(['/users', '/auth/me']);
  const path = `/users/${user.id}`;
  const resend = () =>
    mutateAsync({ method: 'POST', path: `${path}/resend-invite` }).then(({ data }) => setInvite(data), notifyFailed);
  return (
    <Stack gap="sm">
      {invite && <InvitationLink invite={invite} email={user.email} />}
      {user.status === 'pending' && (
        <Group gap="sm">
          <Button variant="default" loading={isPending} onClick={() => void resend()}>
            {t('users.resend')}
          </Button>
          <Text size="xs" c="dimmed">
            {t('users.resendAbout')}
          </Text>
        </Group>
      )}
      {user.totp_enabled && (
        <Confirm
          title={t('users.resetFactorOf', { email: user.email })}
          action={t('users.resetFactor')}
          onConfirm={() =>
            mutateAsync({ method: 'DELETE', path: `${path}/totp` }).then(() => notifyDone(t('users.factorReset')))
          }
          trigger={(open) => (
            <Button variant="default" onClick={open} style={{ alignSelf: 'flex-start' }}>
              {t('users.resetFactor')}
            </Button>
          )}
        >
          {t('users.resetFactorAbout')}
        </Confirm>
      )}
    </Stack>
  );
};

const Changing = ({ user, etag }: { user: User; etag: string | undefined }) => {
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const { save, remove } = useStored({ list: '/users', id: String(user.id), touches: ['/users', '/auth/me'] });
  const initial = {
    email: user.email,
    name: user.name,
    role: user.role,
    status: user.status,
    password: '',
  } satisfies UserPatch;
  const object = useObjectForm<typeof initial>(
    String(user.id),
    initial,
    ({ password, status, ...body }, version) =>
      save(
        { ...body, ...(status === user.status ? {} : { status }), ...(password === '' ? {} : { password }) },
        version,
      ),
    etag,
  );
  const { form } = object;
  const close = () => void navigate('/users');
  const removed = () => {
    notifyDone(t('users.removed', { email: user.email }));
    close();
  };
  return (
    <FormDrawer
      title={user.email}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('users.saved'));
        close();
      }}
      object={object}
      more={
        <DeleteButton title={t('users.remove', { email: user.email })} onDelete={() => remove().then(removed)}>
          {t('users.removeAbout')}
        </DeleteButton>
      }
    >
      <TextInput
        label={t('users.email')}
        type="email"
        autoComplete="off"
        required
        data-autofocus
        {...form.getInputProps('email')}
      />
      <TextInput label={t('name')} autoComplete="off" {...form.getInputProps('name')} />
      <RoleField {...form.getInputProps('role')} />
      {user.status !== 'pending' && (
        <>
          <Switch
            label={t('users.maySignIn')}
            description={t('users.maySignInAbout')}
            checked={form.getValues().status === 'active'}
            error={form.errors.status}
            onChange={({ currentTarget }) =>
              form.setFieldValue('status', currentTarget.checked ? 'active' : 'disabled')
            }
          />
          <PasswordInput
            label={t('users.newPassword')}
            description={t('users.newPasswordAbout')}
            autoComplete="new-password"
            {...form.getInputProps('password')}
          />
        </>
      )}
      <Deeds user={user} />
    </FormDrawer>
  );
};

/** Adds or changes a user: what the address of the screen names. */
export const UserForm = () => {
  const { id } = useParams();
  return (
    <FormObject<User> path={id && `/users/${id}`}>
      {(user, etag) => (user ? <Changing user={user} etag={etag} /> : <Adding />)}
    </FormObject>
  );
};
