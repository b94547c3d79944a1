import { Button, Group, Text, TextInput } from '@mantine/core';
import type { User } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Moment } from '../../../ui/moment.tsx';
import { Name } from '../../../ui/name.tsx';
import { notifyDone } from '../../../ui/notify.ts';
import { Problem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';

/** Who one is. Administrators change their own name; others ask one. */
export const Profile = ({ user }: { user: User }) => {
  const { t } = useTranslation(['accounts', 'common']);
  const { mutateAsync } = useChange(['/auth/me', '/users']);
  const { form, problem, isSaving, submit } = useObjectForm(`${user.id} ${user.name}`, { name: user.name }, (body) =>
    mutateAsync({ method: 'PUT', path: `/users/${user.id}`, body }),
  );
  const isAdmin = user.role === 'admin';
  return (
    <Section title={t('account.you')}>
      <div>
        <Text fw={600}>
          <Name>{user.email}</Name>
        </Text>
        <Text size="sm" c="dimmed">
          {t(`account.role.${user.role}`)} · {t('account.lastLogin')} <Moment at={user.last_login} />
        </Text>
      </div>
      {isAdmin ? (
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void submit().then((isSaved) => isSaved && notifyDone(t('account.nameSaved')));
          }}
        >
          <TextInput label={t('name')} autoComplete="name" {...form.getInputProps('name')} />
          <Problem error={problem} />
          <Group justify="flex-end" mt="md">
            <Button type="submit" variant="default" loading={isSaving} disabled={!form.isDirty()}>
              {t('common:save')}
            </Button>
          </Group>
        </form>
      ) : (
        <>
          <TextInput label={t('name')} value={user.name} readOnly />
          <Text size="sm" c="dimmed">
            {t('account.nameByAdmin')}
          </Text>
        </>
      )}
    </Section>
  );
};
