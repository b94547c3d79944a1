import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import type { Login, SignedIn } from '@sallyport/contract';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useNavigate, useSearchParams } from 'react-router';
import type { ApiError } from '../../../api/api-error.ts';
import { ask } from '../../../api/client.ts';
import { queryClient } from '../../../api/query.ts';
import { useSession } from '../../../api/session.ts';
import { Problem } from '../../../ui/problem.tsx';
import { FrontDoor } from '../front-door.tsx';

/** Where to go afterwards: an address of ours, never another site's. */
const ownPath = (next: string | null): string => (next !== null && /^\/(?![/\\])/.test(next) ? next : '/');

/** What asks for the second factor says so in these words. */
const asksForCode = (error: ApiError): boolean =>
  error.status === 401 && /two-factor|code/i.test(`${error.message} ${error.details ?? ''}`);

/** Password, then the second factor where there is one; afterwards back to where one was. */
export const SignIn = () => {
  const { t } = useTranslation('accounts');
  const [search] = useSearchParams();
  const navigate = useNavigate();
  const session = useSession();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const [needsCode, setNeedsCode] = useState(false);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  if (session.state === 'setup') return <Navigate to="/setup" replace />;
  if (session.state === 'in') return <Navigate to={ownPath(search.get('next'))} replace />;

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
      await queryClient.resetQueries();
      void navigate(ownPath(search.get('next')), { replace: true });
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
    <FrontDoor title={t('signIn.title')}>
      <form onSubmit={(event) => void submit(event)}>
        <Stack>
          <TextInput
            label={t('email')}
            type="email"
            autoComplete="username"
            autoFocus
            required
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <PasswordInput
            label={t('password')}
            autoComplete="current-password"
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
    </FrontDoor>
  );
};
