import { Box, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import type { RecoveryCodes, TotpSecret } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { ask } from '../../../api/client.ts';
import { CopyField } from '../../../ui/copy-field.tsx';
import { useObjectForm } from '../../../ui/form/use-object-form.ts';
import { Problem } from '../../../ui/problem.tsx';
import { QrCode } from './qr-code.tsx';

interface ScanSecretProps {
  secret: TotpSecret;
  onCodes: (codes: RecoveryCodes) => void;
  onCancel: (() => void) | undefined;
}

/** Hands the secret to an authenticator app, and takes the first code that proves it arrived. */
export const ScanSecret = ({ secret, onCodes, onCancel }: ScanSecretProps) => {
  const { t } = useTranslation(['accounts', 'common']);
  const { form, problem, isSaving, submit } = useObjectForm('', { code: '' }, async ({ code }) => {
    const body = { code: code.replaceAll(/\s/g, '') };
    const { data } = await ask<RecoveryCodes>('POST', '/auth/totp/enable', { body });
    onCodes(data);
  });
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <Group align="flex-start" gap="lg">
        <Box bdrs="sm" style={{ overflow: 'hidden', lineHeight: 0 }}>
          <QrCode text={secret.otpauth_url} label={t('account.factor.qr')} />
        </Box>
        <Stack flex="1 1 16rem" maw={480}>
          <Text size="sm">{t('account.factor.scan')}</Text>
          <CopyField label={t('account.factor.key')} value={secret.secret} />
          <TextInput
            label={t('account.factor.code')}
            autoComplete="one-time-code"
            inputMode="numeric"
            maw={240}
            {...form.getInputProps('code')}
          />
          <Problem error={problem} />
          <Group gap="xs">
            <Button type="submit" loading={isSaving}>
              {t('account.factor.enable')}
            </Button>
            {onCancel && (
              <Button variant="default" onClick={onCancel}>
                {t('common:cancel')}
              </Button>
            )}
          </Group>
        </Stack>
      </Group>
    </form>
  );
};
