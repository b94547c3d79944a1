import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import type { SignedIn, Setup as Wanted } from '@sallyport/contract';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, useNavigate } from 'react-router';
import { type ApiError, fieldOf } from '../../../api/api-error.ts';
import { ask } from '../../../api/client.ts';
import { queryClient } from '../../../api/query.ts';
import { useSession } from '../../../api/session.ts';
import { Problem } from '../../../ui/problem.tsx';
import { wordsOf } from '../../../ui/words-of.ts';
import { FrontDoor } from '../front-door.tsx';

const FIELDS = ['email', 'password', 'name', 'setup_token'];
/** From these the service takes the first administrator without its token. */
const LOCAL_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/** Makes the first administrator, and signs in. */
export const Setup = () => {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const session = useSession();
  const [wanted, setWanted] = useState<Wanted>({ email: '', password: '', name: '', setup_token: '' });
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  if (session.state === 'signed-out' || session.state === 'in') return <Navigate to="/" replace />;

  const field = error && fieldOf(error.message, FIELDS);
  const bind = (name: keyof Wanted) => ({
    value: wanted[name] ?? '',
    error: error && field === name ? wordsOf(error) : undefined,
    onChange: ({ currentTarget }: { currentTarget: HTMLInputElement }) =>
      setWanted((before) => ({ ...before, [name]: currentTarget.value })),
  });
  const needsToken = !LOCAL_NAMES.has(window.location.hostname) || field === 'setup_token' || error?.status === 403;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const given = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== ''));
    try {
      await ask<SignedIn>('POST', '/setup', { body: given });
      await queryClient.resetQueries();
      void navigate('/', { replace: true });
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setBusy(false);
    }
  };
  return (
    <FrontDoor title={t('setup.title')} about={t('setup.about')}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <TextInput label={t('email')} type="email" autoComplete="username" autoFocus required {...bind('email')} />
          <PasswordInput
            label={t('password')}
            description={t('setup.passwordHint')}
            autoComplete="new-password"
            required
            {...bind('password')}
          />
          {needsToken && (
            <TextInput
              label={t('setup.token')}
              description={t('setup.tokenHint')}
              autoComplete="off"
              {...bind('setup_token')}
            />
          )}
          {field === undefined && <Problem error={error} />}
          <Button type="submit" loading={isBusy}>
            {t('setup.submit')}
          </Button>
        </Stack>
      </form>
    </FrontDoor>
  );
};
