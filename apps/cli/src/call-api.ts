import type { ErrorBody } from '@sallyport/contract';
import { CommandFailure } from './failure.ts';

/** A refusal of the API, in its words. */
export class ApiRefusal extends CommandFailure {
  readonly status: number;
  constructor(status: number, { error, details, warning }: Partial<ErrorBody>) {
    super([error ?? `the API answered ${status}`, details, warning].filter((text) => text !== undefined).join(': '));
    this.status = status;
  }
}

export type CallApi = <Answer>(method: string, path: string, body?: object) => Promise<Answer>;

/**
 * Makes the function that asks the API of a running service; `url` is its origin. Rejects with a `CommandFailure` when it does not
 * answer, an `ApiRefusal` when it refuses.
 */
export const createCallApi =
  (url: string, token: string | undefined): CallApi =>
  async <Answer>(method: string, path: string, body?: object) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new CommandFailure(`no API answers at ${url}: ${String((cause as Error).cause ?? cause)}`);
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    if (!response.ok) throw new ApiRefusal(response.status, isJson ? (JSON.parse(text) as ErrorBody) : {});
    return (isJson ? JSON.parse(text) : undefined) as Answer;
  };
