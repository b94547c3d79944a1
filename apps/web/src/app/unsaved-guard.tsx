import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { useBlocker } from 'react-router';
import { isAnythingUnsaved } from '../ui/form/unsaved.ts';

/** Asks before another screen takes the place of one in which something is not saved. */
export const UnsavedGuard = () => {
  const { t } = useTranslation();
  const blocker = useBlocker(
    ({ currentLocation: from, nextLocation: to }) => from.pathname !== to.pathname && isAnythingUnsaved(),
  );
  useEffect(() => {
    if (blocker.state !== 'blocked') return;
    if (window.confirm(t('loseTyping'))) blocker.proceed();
    else blocker.reset();
  }, [blocker, t]);
  return null;
};
