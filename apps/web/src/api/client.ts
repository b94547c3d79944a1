import { ApiError } from './api-error.ts';

const ROOT = '/api/v1';

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Ask {
  query?: Query | undefined;
  /** JSON, or a form with files. */
  body?: unknown;
  /** Change only what is still as this version says (ETag). */
  ifMatch?: string | undefined;
  signal?: AbortSignal | undefined;
  headers?: Readonly<Record<string, string>>;
}

/** An answer with what stands in its headers. */
export interface Answer<T> {
  data: T;
  etag: string | undefined;
  /** How many rows there are in all, of a list. */
  total: number | undefined;
  headers: Headers;
}

const queryOf = (query: Query): string => {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`;
};

/** A path of the API with its query, for links that the browser follows itself. */
export const urlOf = (path: string, query: Query = {}): string => `${ROOT}${path}${queryOf(query)}`;

const listeners = new Set<() => void>();

/** Tells when the server no longer knows who is signed in. Returns how to stop being told. */
export const onSignedOut = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const bodyOf = (body: unknown): { body?: BodyInit; headers: Record<string, string> } => {
  if (body === undefined) return { headers: {} };
  if (body instanceof FormData) return { body, headers: {} };
  return { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
};

const readBody = async (response: Response): Promise<unknown> => {
  if (response.status === 204) return undefined;
  const type = response.headers.get('content-type') ?? '';
  if (type.includes('pkcs12')) return response.blob();
  return type.includes('json') ? response.json() : response.text();
};

/** Asks the server. Rejects with an `ApiError`; a request that was given up rejects with its signal's reason. */
export const ask = async <T>(method: string, path: string, options: Ask = {}): Promise<Answer<T>> => {
  const { body, headers } = bodyOf(options.body);
  let response: Response;
  try {
    response = await fetch(urlOf(path, options.query), {
      method,
      headers: {
        ...headers,
        ...(options.ifMatch === undefined ? {} : { 'if-match': options.ifMatch }),
        ...options.headers,
      },
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new ApiError(0, { error: 'no answer' });
  }
  const data = await readBody(response).catch(() => undefined);
  if (!response.ok) {
    // The question who is signed in has its own answer.
    if (response.status === 401 && path !== '/auth/me') for (const listener of listeners) listener();
    const told = typeof data === 'object' && data !== null ? data : {};
    const retryAfter = Number(response.headers.get('retry-after'));
    throw new ApiError(response.status, told, {
      retryAfter: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : undefined,
      etag: response.headers.get('etag') ?? undefined,
    });
  }
  const total = response.headers.get('x-total-count');
  return {
    data: data as T,
    etag: response.headers.get('etag') ?? undefined,
    total: total === null ? undefined : Number(total),
    headers: response.headers,
  };
};
