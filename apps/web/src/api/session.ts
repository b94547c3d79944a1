import type { Me, SetupState } from '@sallyport/contract';
import { queryClient, useRead } from './query.ts';

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

const ME = ['auth', 'me'] as const;

/** Has the server asked anew who this is; what was known stays until it answers. */
export const askWho = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ME });

/** Forgets all that was read for somebody else. */
export const forgetOthers = (): void =>
  queryClient.removeQueries({
    predicate: ({ queryKey: [first, second] }) => first !== 'setup' && !(first === ME[0] && second === ME[1]),
  });
