import { Alert, Button, Group, Select, Stack, TextInput } from '@mantine/core';
import type { CreatedApiToken, NewApiToken } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { CopyField } from '../../../ui/copy-field.tsx';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { leaveAgreed, useUnsaved } from '../../../ui/form/unsaved.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Side } from '../../../ui/side.tsx';
import { RoleField } from '../users/role-field.tsx';

const LASTS = ['30', '90', '365', '0'] as const;
const DAY_MS = 86_400_000;

/** Makes a token, and shows it once. */
export const TokenForm = () => {
  const { t } = useTranslation(['accounts', 'common']);
  const navigate = useNavigate();
  const [made, setMade] = useState<CreatedApiToken>();
  const { mutateAsync } = useChange<CreatedApiToken>(['/tokens']);
  const empty = { name: '', role: 'user' as NonNullable<NewApiToken['role']>, expires_at: '90' };
  const object = useObjectForm('', empty, async ({ name, role, expires_at }) => {
    const days = Number(expires_at);
    const body: NewApiToken = {
      name,
      role,
      expires_at: days === 0 ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
    };
    const { data } = await mutateAsync({ method: 'POST', path: '/tokens', body });
    setMade(data);
  });
  const { form } = object;
  const close = () => void leaveAgreed(() => navigate('/tokens'));
  // It is shown this once.
  useUnsaved(() => made !== undefined);
  if (made) {
    return (
      <Side title={made.name} isHeld onClose={close}>
        <Stack>
          <Alert color="verdigris" variant="light" role="status">
            {t('tokens.once')}
          </Alert>
          <CopyField label={t('tokens.token')} value={made.token} />
          <Group justify="flex-end">
            <Button onClick={close}>{t('tokens.kept')}</Button>
          </Group>
        </Stack>
      </Side>
    );
  }
  return (
    <FormDrawer
      title={t('tokens.add')}
      isOpen
      onClose={close}
      onSaved={() => undefined}
      object={object}
      action={t('tokens.make')}
    >
      <TextInput label={t('tokens.name')} required data-autofocus autoComplete="off" {...form.getInputProps('name')} />
      <RoleField description={t('tokens.roleAbout')} {...form.getInputProps('role')} />
      <Select
        label={t('tokens.lasts')}
        data={LASTS.map((value) => ({ value, label: t(`tokens.days.${value}`) }))}
        allowDeselect={false}
        comboboxProps={{ withinPortal: false }}
        {...form.getInputProps('expires_at')}
      />
    </FormDrawer>
  );
};
