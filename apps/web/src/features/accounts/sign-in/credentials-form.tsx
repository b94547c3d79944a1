import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import type { Login, SignedIn } from '@sallyport/contract';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../../../api/api-error.ts';
import { ask } from '../../../api/client.ts';
import { Problem } from '../../../ui/problem.tsx';

/** What asks for the second factor says so in these words. */
const asksForCode = (error: ApiError): boolean =>
  error.status === 401 && /two-factor|code/i.test(`${error.message} ${error.details ?? ''}`);

interface Props {
  /** Whose password it is, when nobody else can mean this form. */
  of?: string | undefined;
  /** What is done once the session is there. */
  onSignedIn: () => Promise<unknown>;
}

/** Password, then the second factor where there is one. */
export const CredentialsForm = ({ of, onSignedIn }: Props) => {
  const { t } = useTranslation('accounts');
  const [email, setEmail] = useState(of ?? '');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);

  const factor = (): Partial<Login> => {
    const bare = code.replaceAll(/\s/g, '');
    if (bare === '') return {};
    return /^\d{6}$/.test(bare) ? { totp_code: bare } : { recovery_code: code.trim() };
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      await ask<SignedIn>('POST', '/auth/login', { body: { email, password, ...factor() } satisfies Login });
      await onSignedIn();
    } catch (failure) {
      const refused = failure as ApiError;
      const isFirstAsk = !needsCode && asksForCode(refused);
      setNeedsCode((was) => was || asksForCode(refused));
      if (!isFirstAsk) setError(refused);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <Stack>
        <TextInput
          label={t('email')}
          type="email"
          autoComplete="username"
          autoFocus={of === undefined}
          readOnly={of !== undefined}
          required
          value={email}
          onChange={({ currentTarget }) => setEmail(currentTarget.value)}
        />
        <PasswordInput
          label={t('password')}
          autoComplete="current-password"
          data-autofocus={of !== undefined || undefined}
          required
          value={password}
          onChange={({ currentTarget }) => setPassword(currentTarget.value)}
        />
        {needsCode && (
          <TextInput
            label={t('signIn.code')}
            description={t('signIn.codeHint')}
            autoComplete="one-time-code"
            autoFocus
            value={code}
            onChange={({ currentTarget }) => setCode(currentTarget.value)}
          />
        )}
        <Problem error={error} />
        <Button type="submit" loading={isBusy}>
          {t('signIn.submit')}
        </Button>
      </Stack>
    </form>
  );
};
