import { Button, PasswordInput, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import type { InviteAcceptance, InviteCheck } from '@sallyport/contract';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useNavigate, useSearchParams } from 'react-router';
import { type ApiError, fieldOf } from '../../../api/api-error.ts';
import { ask } from '../../../api/client.ts';
import { queryClient, useRead } from '../../../api/query.ts';
import { Problem } from '../../../ui/problem.tsx';
import { wordsOf } from '../../../ui/words-of.ts';
import { FrontDoor } from '../front-door.tsx';

/** Where the link of an invitation leads: a name and a password, then one is in. */
export const AcceptInvite = () => {
  const { t } = useTranslation('accounts');
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  const check = useRead<InviteCheck>('/invite/validate', { query: { token }, isOn: token !== '', retry: false });
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const field = error && fieldOf(error.message, ['name', 'password']);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    const body: InviteAcceptance = { token, password, ...(name === '' ? {} : { name }) };
    try {
      await ask('POST', '/invite/accept', { body });
      // It is accepted, whatever comes of this: where it fails, one signs in by hand.
      await ask('POST', '/auth/login', { body: { email: check.data?.email, password } }).catch(() => undefined);
      await queryClient.resetQueries();
      void navigate('/', { replace: true });
    } catch (failure) {
      setError(failure as ApiError);
    } finally {
      setBusy(false);
    }
  };

  // A server that is silent says nothing about the invitation.
  const status = check.error?.status ?? 404;
  const isGone = status >= 400 && status < 500 && status !== 429;
  if (token === '' || check.error) {
    return (
      <FrontDoor title={t('invite.title')}>
        <Stack>
          {isGone && <Text size="sm">{t('invite.gone')}</Text>}
          <Problem error={check.error} {...(isGone ? {} : { onRetry: () => void check.refetch() })} />
        </Stack>
      </FrontDoor>
    );
  }
  if (!check.data) {
    return (
      <FrontDoor title={t('invite.title')}>
        <Skeleton h={160} />
      </FrontDoor>
    );
  }
  return (
    <FrontDoor title={t('invite.title')} about={t('invite.about', { email: check.data.email })}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          <TextInput
            label={t('name')}
            autoComplete="name"
            value={name}
            error={error && field === 'name' ? wordsOf(error) : undefined}
            onChange={({ currentTarget }) => setName(currentTarget.value)}
          />
          <PasswordInput
            label={t('password')}
            description={t('setup.passwordHint')}
            autoComplete="new-password"
            required
            value={password}
            error={error && field === 'password' ? wordsOf(error) : undefined}
            onChange={({ currentTarget }) => setPassword(currentTarget.value)}
          />
          {field === undefined && <Problem error={error} />}
          <Button type="submit" loading={isBusy}>
            {t('invite.submit')}
          </Button>
        </Stack>
      </form>
    </FrontDoor>
  );
};
