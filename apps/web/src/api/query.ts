import {
  keepPreviousData,
  QueryClient,
  type UseQueryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { ApiError } from './api-error.ts';
import { type Answer, type Ask, ask, type Query } from './client.ts';

const STALE_MS = 10_000;

/** Refusals do not change by asking again; what had no answer may. */
const isWorthRetrying = (failures: number, error: Error): boolean =>
  failures < 2 && error instanceof ApiError && (error.status === 0 || error.status === 503);

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: STALE_MS, retry: isWorthRetrying, refetchOnWindowFocus: true },
    mutations: { retry: false },
  },
});

interface Reading {
  query?: Query;
  /** Read again every so many milliseconds while somebody looks. */
  everyMs?: number | undefined;
  /** Whether to read at all. */
  isOn?: boolean;
  retry?: UseQueryOptions['retry'];
}

/** The key of what was read of a path: `invalidate` with a path takes in all that lies below it. */
export const keyOf = (path: string, query?: Query): readonly unknown[] => [
  ...path.split('/').filter((part) => part !== ''),
  ...(query === undefined ? [] : [query]),
];

/** Reads a path of the API, with its ETag and total. What was there stays while another page is fetched. */
export const useAnswer = <T>(path: string, { query, everyMs, isOn = true, retry }: Reading = {}) =>
  useQuery<Answer<T>, ApiError>({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => ask<T>('GET', path, { query, signal }),
    enabled: isOn,
    placeholderData: keepPreviousData,
    // A list of ten thousand is not compared row by row with the one before.
    structuralSharing: false,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
    ...(retry === undefined ? {} : { retry: retry as never }),
  });

/** Reads a path of the API: the data alone. */
export const useRead = <T>(path: string, reading: Reading = {}) => {
  const { data, ...rest } = useAnswer<T>(path, reading);
  return { ...rest, data: data?.data };
};

/** Has read anew whatever lies below these paths. For what is done outside of a component. */
export const readAnew = async (paths: readonly string[]): Promise<void> => {
  await Promise.all(paths.map((one) => queryClient.invalidateQueries({ queryKey: keyOf(one) })));
};

/** Asks by POST what changes nothing, anew whenever `body` is another one; the answer before stays meanwhile. */
export const useAsked = <T>(path: string, body: unknown, isOn = true) => {
  const { data, ...rest } = useQuery<Answer<T>, ApiError>({
    queryKey: [...keyOf(path), body],
    queryFn: ({ signal }) => ask<T>('POST', path, { body, signal }),
    enabled: isOn,
    placeholderData: keepPreviousData,
    // What was asked with each letter that is typed.
    gcTime: 30_000,
  });
  return { ...rest, data: data?.data };
};

export interface Change extends Ask {
  method: 'POST' | 'PUT' | 'DELETE';
  path: string;
}

/**
 * Changes something, and has read anew whatever lies below `touches` (default: the first part of the path). Errors are `ApiError`s.
 * What is given back is the answer with its headers.
 */
export const useChange = <T = unknown>(touches?: readonly string[]) => {
  const client = useQueryClient();
  return useMutation<Answer<T>, ApiError, Change>({
    mutationFn: ({ method, path, ...options }) => ask<T>(method, path, options),
    onSuccess: async (_answer, { path }) => {
      const paths = touches ?? [`/${path.split('/')[1]}`];
      await Promise.all(paths.map((one) => client.invalidateQueries({ queryKey: keyOf(one) })));
    },
  });
};
