import { ask } from './client.ts';
import { queryClient } from './query.ts';

let isLeaving = false;

/** Whether the session is being ended on purpose: what is refused meanwhile is no surprise. */
export const isSigningOut = (): boolean => isLeaving;

/** Ends the session, and goes where one signs in. Rejects with an `ApiError` when it could not be ended. */
export const signOut = async (): Promise<void> => {
  isLeaving = true;
  try {
    await ask('POST', '/auth/logout');
    queryClient.clear();
  } finally {
    isLeaving = false;
  }
  window.location.assign('/sign-in');
};
