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

/** A body as it is sent. */
export interface SentText {
  type: string;
  text: string;
}

/** Asks the API, and resolves with the text that it answers, and its type. */
export type AskApi = (method: string, path: string, body?: SentText | FormData) => Promise<SentText>;

/**
 * Makes the function that asks the API of a running service; `url` is its origin. Rejects with a `CommandFailure` when it does not
 * answer, an `ApiRefusal` when it refuses.
 */
export const createAskApi =
  (url: string, token: string | undefined): AskApi =>
  async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        // Of a form the type says where its parts end; fetch knows.
        ...(body === undefined || body instanceof FormData ? {} : { 'content-type': body.type }),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : body.text }),
    }).catch((cause: unknown) => {
      throw new CommandFailure(
        `Sallyport has to run for that, and no API answers at ${url}: ${String((cause as Error).cause ?? cause)}`,
      );
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    if (!response.ok) throw new ApiRefusal(response.status, isJson(type) ? (JSON.parse(text) as ErrorBody) : {});
    return { type, text };
  };

const isJson = (type: string): boolean => type.includes('json');

/** The same for JSON, and for forms that are answered with it. */
export const createCallApi = (url: string, token: string | undefined): CallApi => {
  const ask = createAskApi(url, token);
  return async <Answer>(method: string, path: string, body?: object) => {
    const sent = body instanceof FormData ? body : body && { type: 'application/json', text: JSON.stringify(body) };
    const { type, text } = await ask(method, path, sent);
    return (isJson(type) ? JSON.parse(text) : undefined) as Answer;
  };
};
