import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, Outlet, useLocation } from 'react-router';
import { onSignedOut } from '../api/client.ts';
import { queryClient } from '../api/query.ts';
import { useSession } from '../api/session.ts';
import { needTexts } from '../i18n/index.ts';
import { WhoProvider } from './who.ts';

const Enrol = lazy(async () => {
  const [{ Enrol: screen }] = await Promise.all([
    import('../features/accounts/account/enrol.tsx'),
    needTexts('accounts'),
  ]);
  return { default: screen };
});

/** Lets through whoever is signed in; others go where they sign in, and come back to where they were. */
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

  useEffect(
    () =>
      onSignedOut(() => {
        void queryClient.resetQueries({ queryKey: ['auth', 'me'] });
      }),
    [],
  );

  switch (session.state) {
    case 'loading':
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
      return <Navigate to={`/sign-in?next=${encodeURIComponent(pathname + search)}`} replace />;
    case 'in':
      if (mustEnrol || isEnrolling) {
        return (
          <Suspense>
            <Enrol onDone={() => setEnrolling(false)} />
          </Suspense>
        );
      }
      return (
        <WhoProvider value={session.who}>
          <Outlet />
        </WhoProvider>
      );
    default:
      return session satisfies never;
  }
};
