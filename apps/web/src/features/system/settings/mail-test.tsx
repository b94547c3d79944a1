import { Button, Group, Text, TextInput } from '@mantine/core';
import type { MailTest as Answer } from '@sallyport/contract';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../../../api/query.ts';
import { useWho } from '../../../app/who.ts';
import { wordsOf } from '../../../ui/words-of.ts';

/** Sends a mail with the settings as they are stored, and says what the mail server answered. */
export const MailTest = () => {
  const { t } = useTranslation('system');
  const { user } = useWho();
  const [to, setTo] = useState(user?.email ?? '');
  const { mutate, data, error, isPending } = useChange<Answer>([]);
  const failed = (error && wordsOf(error)) ?? (data && !data.data.sent ? data.data.error : undefined);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        mutate({ method: 'POST', path: '/settings/test-mail', body: to === '' ? {} : { to } });
      }}
    >
      <Group align="flex-end" gap="xs">
        <TextInput
          type="email"
          label={t('settings.mailTo')}
          flex="1 1 14rem"
          maw={360}
          value={to}
          onChange={({ currentTarget }) => setTo(currentTarget.value)}
        />
        <Button type="submit" variant="default" loading={isPending}>
          {t('settings.sendMail')}
        </Button>
      </Group>
      <Text size="sm" mt={6} role="status" className="foreign" c={failed === undefined ? 'dimmed' : 'red'}>
        {failed ?? (data ? t('settings.mailSent') : '')}
      </Text>
    </form>
  );
};
