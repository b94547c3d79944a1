import { createContext, useContext } from 'react';
import type { Who } from '../api/session.ts';

const WhoContext = createContext<Who | undefined>(undefined);

export const WhoProvider = WhoContext.Provider;

/** Who is signed in. Only below the gate of the shell. */
export const useWho = (): Who => {
  const who = useContext(WhoContext);
  if (who === undefined) throw new Error('nobody is known here');
  return who;
};
