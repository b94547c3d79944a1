import { useQuery } from '@tanstack/react-query';
import type { ApiError } from './api-error.ts';
import { type Answer, ask, type Query } from './client.ts';
import { keyOf, useChange } from './query.ts';

/** Reads an object for whoever is about to change it: what was kept from an earlier look is not given out. undefined: nothing is read. */
export const useCurrent = <T>(path: string | undefined) => {
  const { data, error, isFetchedAfterMount } = useQuery<Answer<T>, ApiError>({
    queryKey: keyOf(path ?? ''),
    queryFn: ({ signal }) => ask<T>('GET', path ?? '', { signal }),
    enabled: path !== undefined,
    staleTime: 0,
  });
  return { answer: isFetchedAfterMount ? data : undefined, error };
};

interface Stored {
  /** The path of the list that it belongs to. */
  list: string;
  /** undefined: it is made when it is saved first. */
  id: string | undefined;
  /** See `useChange`. */
  touches?: readonly string[];
}

/** Saves and deletes an object of a list. Errors are `ApiError`s. */
export const useStored = <T = unknown>({ list, id, touches }: Stored) => {
  const { mutateAsync } = useChange<T>(touches);
  const path = `${list}/${id}`;
  return {
    /** `etag`: the version that this is a change of. */
    save: (body: unknown, etag: string | undefined, query?: Query): Promise<Answer<T>> =>
      id === undefined
        ? mutateAsync({ method: 'POST', path: list, body, query })
        : mutateAsync({ method: 'PUT', path, body, query, ifMatch: etag }),
    remove: (): Promise<Answer<T>> => mutateAsync({ method: 'DELETE', path }),
  };
};
