import { Button, Center, Loader, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Navigate, Outlet, useLocation } from 'react-router';
import { onSignedOut } from '../api/client.ts';
import { queryClient } from '../api/query.ts';
import { askWho, forgetOthers, useSession, type Who } from '../api/session.ts';
import { isSigningOut } from '../api/sign-out.ts';
import { needTexts } from '../i18n/index.ts';
import { notifyAttention } from '../ui/notify.ts';
import { WhoProvider } from './who.ts';

const Enrol = lazy(async () => {
  const [{ Enrol: screen }] = await Promise.all([
    import('../features/accounts/account/enrol.tsx'),
    needTexts('accounts'),
  ]);
  return { default: screen };
});

const fetchSignInAgain = async () => {
  const [{ SignInAgain: dialog }] = await Promise.all([
    import('../features/accounts/sign-in/sign-in-again.tsx'),
    needTexts('accounts'),
  ]);
  return { default: dialog };
};
const SignInAgain = lazy(fetchSignInAgain);

/** Whose the screens are, and what is typed in them. Nobody's where nobody signs in. */
const ownerOf = ({ user }: Who): number | 'nobody' => user?.id ?? 'nobody';

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
        if (isIn.current && !isSigningOut()) void askWho();
      }),
    [],
  );
  const { current: who } = last;

  // Another one may sign in from another window. What was read and typed here is not theirs: it goes before they see anything.
  const owner = session.state === 'in' ? ownerOf(session.who) : undefined;
  const [shownTo, setShownTo] = useState(owner);
  const email = who?.user?.email;
  useLayoutEffect(() => {
    if (owner === undefined || owner === shownTo) return;
    if (shownTo !== undefined) {
      forgetOthers();
      if (email !== undefined) notifyAttention(t('otherUser', { email }));
    }
    setShownTo(owner);
  }, [owner, shownTo, email, t]);

  // When it is needed, the server may be another version's, which has no such file.
  useEffect(() => {
    if (email !== undefined) void fetchSignInAgain().catch(() => {});
  }, [email]);

  const isAsking = session.state === 'signed-out' && email !== undefined;
  const isAskingNow = useRef(false);
  isAskingNow.current = isAsking;
  // Before what lies below: Escape would close its drawers and dialogs, and the palette lead away from them, with what was typed there.
  useLayoutEffect(() => {
    const keep = (event: KeyboardEvent) => {
      const isForBelow = event.key === 'Escape' || event.ctrlKey || event.metaKey;
      if (isForBelow && isAskingNow.current) event.stopImmediatePropagation();
    };
    window.addEventListener('keydown', keep, { capture: true });
    return () => window.removeEventListener('keydown', keep, { capture: true });
  }, []);

  const signIn = `/sign-in?next=${encodeURIComponent(pathname + search)}`;
  const loading = (
    <Center h="100dvh">
      <Loader aria-label={t('loading')} />
    </Center>
  );
  const stay = (
    <>
      <WhoProvider value={who}>
        <Outlet />
      </WhoProvider>
      {isAsking && (
        <Suspense>
          <SignInAgain email={email} elsewhere={signIn} />
        </Suspense>
      )}
    </>
  );
  switch (session.state) {
    case 'loading':
      return who ? stay : loading;
    case 'unreachable':
      if (who) return stay;
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
      return isAsking ? stay : <Navigate to={signIn} replace />;
    case 'in':
      if (owner !== shownTo) return loading;
      if (mustEnrol || isEnrolling) {
        return (
          <Suspense>
            <Enrol onDone={() => setEnrolling(false)} />
          </Suspense>
        );
      }
      return stay;
    default:
      return session satisfies never;
  }
};
