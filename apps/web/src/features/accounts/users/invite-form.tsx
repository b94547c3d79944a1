import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import type { Invite, InvitePreview, NewInvite } from '@sallyport/contract';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { ask } from '../../../api/client.ts';
import { useChange } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Side } from '../../../ui/side.tsx';
import { InvitationLink } from './invitation-link.tsx';
import { RoleField } from './role-field.tsx';

const PAUSE_MS = 400;

/** What the link to `email` would look like; undefined while there is no address that the service takes. */
const usePreview = (email: string): InvitePreview | undefined => {
  const [wanted] = useDebouncedValue(email.trim(), PAUSE_MS);
  const [preview, setPreview] = useState<InvitePreview>();
  useEffect(() => {
    if (!wanted.includes('@')) return setPreview(undefined);
    const controller = new AbortController();
    ask<InvitePreview>('POST', '/users/preview-invite-url', {
      body: { email: wanted },
      signal: controller.signal,
    }).then(
      ({ data }) => setPreview(data),
      () => controller.signal.aborted || setPreview(undefined),
    );
    return () => controller.abort();
  }, [wanted]);
  return preview;
};

/** Invites somebody: shows where the link will lead before it is sent, and the link itself afterwards. */
export const InviteForm = () => {
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const [invite, setInvite] = useState<Invite>();
  const { mutateAsync } = useChange<Invite>(['/users']);
  const empty: Required<NewInvite> = { email: '', name: '', role: 'user' };
  const object = useObjectForm('', empty, async (body) => {
    const { data } = await mutateAsync({ method: 'POST', path: '/users/invite', body });
    setInvite(data);
  });
  const { form } = object;
  const preview = usePreview(form.getValues().email);
  const close = () => void navigate('/users');
  if (invite) {
    return (
      <Side title={t('users.invite')} onClose={close}>
        <Stack>
          <InvitationLink invite={invite} email={invite.user.email} />
          <Group justify="flex-end">
            <Button onClick={close}>{t('users.done')}</Button>
          </Group>
        </Stack>
      </Side>
    );
  }
  return (
    <FormDrawer
      title={t('users.invite')}
      isOpen
      onClose={close}
      onSaved={() => undefined}
      object={object}
      action={t('users.send')}
    >
      <Text size="sm" c="dimmed">
        {t('users.inviteAbout')}
      </Text>
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
      {preview && (
        <Alert role="status" color={preview.warning ? 'yellow' : 'gray'} variant="light" title={t('users.linkLooks')}>
          <Text size="sm" ff="monospace" className="foreign">
            {preview.preview_url}
          </Text>
          {preview.warning && (
            <Text size="sm" mt="xs">
              {preview.warning_message}
            </Text>
          )}
        </Alert>
      )}
    </FormDrawer>
  );
};
