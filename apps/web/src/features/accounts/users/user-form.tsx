import { Button, Group, PasswordInput, Stack, Switch, Text, TextInput } from '@mantine/core';
import type { NewUser, ResentInvite, User, UserPatch } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useParams } from 'react-router';
import { useAnswer, useChange } from '../../../api/query.ts';
import { Confirm } from '../../../ui/confirm.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone, notifyFailed } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
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
    mutateAsync({ method: 'POST', path: `${path}/resend-invite` }).then(
      ({ data }) => setInvite(data),
      (failure: Error) => notifyFailed(failure.message),
    );
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
  // What is saved is a change of what was shown at first, whatever was read behind the form since.
  const [shown] = useState(etag);
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const { mutateAsync } = useChange(['/users', '/auth/me']);
  const initial = {
    email: user.email,
    name: user.name,
    role: user.role,
    status: user.status,
    password: '',
  } satisfies UserPatch;
  const object = useObjectForm<typeof initial>(String(user.id), initial, ({ password, status, ...body }, isOver) =>
    mutateAsync({
      method: 'PUT',
      path: `/users/${user.id}`,
      body: { ...body, ...(status === user.status ? {} : { status }), ...(password === '' ? {} : { password }) },
      ifMatch: isOver ? undefined : shown,
    }),
  );
  const { form } = object;
  const close = () => void navigate('/users');
  const remove = async () => {
    await mutateAsync({ method: 'DELETE', path: `/users/${user.id}` });
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
        <Confirm
          title={t('users.remove', { email: user.email })}
          action={t('common:delete')}
          onConfirm={remove}
          trigger={(open) => (
            <Button variant="subtle" color="red" mr="auto" onClick={open}>
              {t('common:delete')}
            </Button>
          )}
        >
          {t('users.removeAbout')}
        </Confirm>
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
  const { data, error } = useAnswer<User>(`/users/${id}`, { isOn: id !== undefined });
  if (id === undefined) return <Adding />;
  if (error) return <Problem error={error} />;
  return data ? <Changing key={id} user={data.data} etag={data.etag} /> : null;
};
