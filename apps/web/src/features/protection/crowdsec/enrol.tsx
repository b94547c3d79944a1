import { Alert, PasswordInput, Text, TextInput } from '@mantine/core';
import type { ConsoleEnrolment } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { PageForm } from '../../../ui/form/page-form.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';

const NEW = { token: '', name: '', tags: '' };

/** Enrols CrowdSec at its console, after what that means was said. */
export const Enrol = () => {
  const { t } = useTranslation('crowdsec');
  const { mutateAsync } = useChange<ConsoleEnrolment>(['/admin/crowdsec', '/security']);
  const object = useObjectForm('new', NEW, ({ token, name, tags }) => {
    const list = tags
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean);
    return mutateAsync({
      method: 'POST',
      path: '/admin/crowdsec/console',
      body: {
        token: token.trim(),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(list.length === 0 ? {} : { tags: list }),
      },
    });
  });
  const { form } = object;
  return (
    <PageForm
      object={{ ...object, takeTheirs: form.reset }}
      action={t('enrol')}
      onSaved={() => {
        form.reset();
        notifyDone(t('enrolled'));
      }}
    >
      <Text size="sm">{t('nothingSent')}</Text>
      <Alert color="gray">{t('whatIsSent')}</Alert>
      <PasswordInput
        label={t('token')}
        description={t('tokenHint')}
        required
        autoComplete="off"
        maxLength={128}
        {...form.getInputProps('token')}
      />
      <TextInput label={t('nameThere')} description={t('nameHint')} maxLength={64} {...form.getInputProps('name')} />
      <TextInput label={t('tags')} description={t('tagsHint')} {...form.getInputProps('tags')} />
    </PageForm>
  );
};
