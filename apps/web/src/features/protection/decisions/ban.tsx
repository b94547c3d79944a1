import { NativeSelect, Textarea, TextInput } from '@mantine/core';
import type { Decision } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useNavigate } from 'react-router';
import { useChange } from '../../../api/query.ts';
import { FormDrawer } from '../../../ui/form/form-drawer.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';

const DURATIONS = { hour: '1h', hours: '4h', day: '1d', week: '1w', month: '30d', ever: '' } as const;
const NEW = { ip: '', details: '', duration: DURATIONS.hours as string };

/** Bans an address or a network. */
export const Ban = () => {
  const { t } = useTranslation('protection');
  const navigate = useNavigate();
  const { mutateAsync } = useChange<{ decision: Decision }>(['/security']);
  const object = useObjectForm('new', NEW, ({ ip, details, duration }) =>
    mutateAsync({
      method: 'POST',
      path: '/security/decisions',
      body: { ip: ip.trim(), action: 'block', details, ...(duration === '' ? {} : { duration }) },
    }),
  );
  const { form } = object;
  const close = () => void navigate('/decisions');
  return (
    <FormDrawer
      title={t('decisions.ban')}
      action={t('decisions.ban')}
      isOpen
      onClose={close}
      onSaved={() => {
        notifyDone(t('decisions.banned', { ip: form.getValues().ip }));
        close();
      }}
      object={object}
    >
      <TextInput
        label={t('decisions.ip')}
        description={t('decisions.ipHint')}
        required
        data-autofocus
        spellCheck={false}
        {...form.getInputProps('ip')}
      />
      <NativeSelect
        label={t('decisions.duration')}
        data={(Object.keys(DURATIONS) as (keyof typeof DURATIONS)[]).map((one) => ({
          value: DURATIONS[one],
          label: t(`decisions.durations.${one}`),
        }))}
        {...form.getInputProps('duration')}
      />
      <Textarea
        label={t('decisions.details')}
        description={t('decisions.detailsHint')}
        autosize
        minRows={2}
        {...form.getInputProps('details')}
      />
    </FormDrawer>
  );
};
