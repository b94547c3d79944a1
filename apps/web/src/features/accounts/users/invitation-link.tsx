import { Alert, Stack, Text } from '@mantine/core';
import type { ResentInvite } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { formatMoment } from '../../../i18n/formats.ts';
import { CopyField } from '../../../ui/copy-field.tsx';

/** What came of an invitation: whether a mail is on its way, and the link to hand over otherwise. */
export const InvitationLink = ({ invite, email }: { invite: ResentInvite; email: string }) => {
  const { t } = useTranslation('accounts');
  return (
    <Alert role="status" color={invite.email_sent ? 'verdigris' : 'yellow'} variant="light">
      <Stack gap="sm">
        <Text size="sm" className="foreign">
          {t(invite.email_sent ? 'users.sent' : 'users.notSent', { email })}
        </Text>
        <CopyField
          label={t('users.link')}
          description={t('users.validUntil', { moment: formatMoment(invite.expires_at) })}
          value={invite.invite_url}
        />
      </Stack>
    </Alert>
  );
};
