import { Button, Group, PasswordInput, Stack } from '@mantine/core';
import type { PasswordChange, User } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { queryClient } from '../../../api/query.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';

/** Chooses another password. That ends every session; where the password alone signs in, this one begins anew. */
export const Password = ({ user }: { user: User }) => {
  const { t } = useTranslation('accounts');
  const empty: PasswordChange = { current_password: '', new_password: '' };
  const { form, problem, isSaving, submit } = useObjectForm('', empty, async (body) => {
    await ask('POST', '/auth/change-password', { body });
    if (!user.totp_enabled) {
      // The password is changed, whatever comes of this: where it fails, one is asked to sign in.
      await ask('POST', '/auth/login', { body: { email: user.email, password: body.new_password } }).catch(
        () => undefined,
      );
    }
  });
  const changed = async () => {
    form.setValues(empty);
    form.resetDirty(empty);
    notifyDone(t('account.password.done'));
    await queryClient.invalidateQueries({ queryKey: ['auth'] });
  };
  return (
    <Section title={t('account.password.title')} about={t('account.password.about')}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit().then((isSaved) => (isSaved ? changed() : undefined));
        }}
      >
        <Stack>
          <input type="text" name="username" autoComplete="username" value={user.email} readOnly hidden />
          <PasswordInput
            label={t('account.password.current')}
            autoComplete="current-password"
            {...form.getInputProps('current_password')}
          />
          <PasswordInput
            label={t('account.password.new')}
            description={t('setup.passwordHint')}
            autoComplete="new-password"
            {...form.getInputProps('new_password')}
          />
          <Problem error={problem} />
          <Group justify="flex-end">
            <Button type="submit" variant="default" loading={isSaving} disabled={!form.isDirty()}>
              {t('account.password.submit')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
};
