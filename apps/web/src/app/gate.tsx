import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, Outlet, useLocation } from 'react-router';
import { onSignedOut } from '../api/client.ts';
import { queryClient } from '../api/query.ts';
import { useSession, type Who } from '../api/session.ts';
import { needTexts } from '../i18n/index.ts';
import { WhoProvider } from './who.ts';

const Enrol = lazy(async () => {
  const [{ Enrol: screen }] = await Promise.all([
    import('../features/accounts/account/enrol.tsx'),
    needTexts('accounts'),
  ]);
  return { default: screen };
});

const SignInAgain = lazy(async () => {
  const [{ SignInAgain: dialog }] = await Promise.all([
    import('../features/accounts/sign-in/sign-in-again.tsx'),
    needTexts('accounts'),
  ]);
  return { default: dialog };
});

/**
 * Lets through whoever is signed in; others go where they sign in, and come back to where they were. Whose session ends stays where they are, with what they typed, and signs in over it.
 */
export const Gate = () => {
  const { t } = useTranslation();
  const session = useSession();
  const { pathname, search } = useLocation();
  // Recovery codes stay in sight until they were kept, though the service lets one in by then.
  const [isEnrolling, setEnrolling] = useState(false);
  const mustEnrol = session.state === 'in' && session.who.mustEnrolTotp;
  useEffect(() => {
    if (mustEnrol) setEnrolling(true);
    if (session.state === 'signed-out') setEnrolling(false);
  }, [mustEnrol, session.state]);

  /** Who was let through last. */
  const last = useRef<Who>(undefined);
  if (session.state === 'in' && !mustEnrol) last.current = session.who;
  const isIn = useRef(false);
  isIn.current = session.state === 'in';
  useEffect(
    () =>
      onSignedOut(() => {
        // Once it is known, each further refusal would take the dialog away for a moment, and the password in it.
        if (isIn.current) void queryClient.resetQueries({ queryKey: ['auth', 'me'] });
      }),
    [],
  );

  const { current: who } = last;
  const signIn = `/sign-in?next=${encodeURIComponent(pathname + search)}`;
  const stay = (email: string | undefined) => (
    <>
      <WhoProvider value={who}>
        <Outlet />
      </WhoProvider>
      {email !== undefined && (
        <Suspense>
          <SignInAgain email={email} elsewhere={signIn} />
        </Suspense>
      )}
    </>
  );
  switch (session.state) {
    case 'loading':
      if (who) return stay(undefined);
      return (
        <Center h="100dvh">
          <Loader aria-label={t('loading')} />
        </Center>
      );
    case 'unreachable':
      return (
        <Center h="100dvh">
          <Stack align="center" role="alert">
            <Text>{t('noAnswer')}</Text>
            <Button variant="default" onClick={() => void queryClient.resetQueries()}>
              {t('tryAgain')}
            </Button>
          </Stack>
        </Center>
      );
    case 'setup':
      return <Navigate to="/setup" replace />;
    case 'signed-out':
      return who?.user ? stay(who.user.email) : <Navigate to={signIn} replace />;
    case 'in':
      if (mustEnrol || isEnrolling) {
        return (
          <Suspense>
            <Enrol onDone={() => setEnrolling(false)} />
          </Suspense>
        );
      }
      return stay(undefined);
    default:
      return session satisfies never;
  }
};
