import type { Me, SetupState } from '@sallyport/contract';
import { useRead } from './query.ts';

export interface Who {
  /** undefined: nobody is signed in, and nobody needs to be (loopback in mode `local`). */
  user: Me['user'] | undefined;
  isAdmin: boolean;
  mustEnrolTotp: boolean;
}

export type SessionState =
  | { state: 'loading' }
  | { state: 'unreachable' }
  | { state: 'setup' }
  | { state: 'signed-out' }
  | { state: 'in'; who: Who };

/** Who looks at this page, as the server knows it. */
export const useSession = (): SessionState => {
  const setup = useRead<SetupState>('/setup');
  const me = useRead<Me>('/auth/me', { isOn: setup.data?.setup_required === false, retry: false });
  if (setup.data?.setup_required) return { state: 'setup' };
  const isRefused = me.error?.status === 401 || me.error?.status === 403;
  // A server that is silent for a while changes nothing about who one is, and takes no form away.
  if (me.data && !isRefused) {
    const { user, totp_required } = me.data;
    return { state: 'in', who: { user, isAdmin: user.role === 'admin', mustEnrolTotp: totp_required } };
  }
  if (isRefused) return { state: 'signed-out' };
  if (setup.error || me.error) return { state: 'unreachable' };
  return { state: 'loading' };
};
