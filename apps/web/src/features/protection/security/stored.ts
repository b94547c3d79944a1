import type { SecurityConfig, SecurityConfigAnswer, SecurityStatus } from '@sallyport/contract';
import { useAnswer, useChange, useRead } from '../../../api/query.ts';
import { notifyFailed } from '../../../ui/notify.ts';

/** So long a change that may lock its maker out waits to be confirmed. */
export const CONFIRM_SECONDS = 60;

/** What changes when the suite does. */
export const TOUCHED = ['/security', '/settings'] as const;

export const useStatus = () => useRead<SecurityStatus>('/security/status', { everyMs: 5_000 });

export const useConfig = () => useAnswer<SecurityConfigAnswer>('/security/config');

/** Changes some fields of the configuration; while the suite acts, they wait to be confirmed. */
export const useSaveConfig = (isActing: boolean) => {
  const { mutateAsync } = useChange<SecurityConfigAnswer>(TOUCHED);
  return async (body: Partial<SecurityConfig>, etag: string | undefined) => {
    const { data } = await mutateAsync({
      method: 'POST',
      path: '/security/config',
      body,
      ifMatch: etag,
      query: { confirm_within: isActing ? CONFIRM_SECONDS : undefined },
    });
    if (data.warning !== undefined) notifyFailed(data.warning);
  };
};
