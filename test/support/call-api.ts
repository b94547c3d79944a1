/** What the API answered: its body as JSON, undefined where it is empty. */
export interface ApiAnswer<T> {
  status: number;
  body: T;
}

export interface ApiCaller {
  /** Resolves with whatever the API answers. `body`: sent as JSON, a form as it is. */
  send<T>(method: string, path: string, body?: unknown): Promise<ApiAnswer<T>>;
  /** Resolves with the body of an answer; throws what was answered unless the API did what it was asked for. */
  call<T>(method: string, path: string, body?: unknown): Promise<T>;
}

/** Asks the API that `api` gives the address of, with the token that `token` gives (none: as the local host). Both are read with each request, since they may come later. */
export const createApiCaller = (api: () => string, token: () => string | undefined = () => undefined): ApiCaller => {
  const ask = async (method: string, path: string, body: unknown): Promise<{ response: Response; text: string }> => {
    const bearer = token();
    const isForm = body instanceof FormData;
    const response = await fetch(api() + path, {
      method,
      headers: {
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    return { response, text: await response.text() };
  };
  const parse = <T>(text: string): T => (text === '' ? undefined : JSON.parse(text)) as T;
  return {
    async send<T>(method: string, path: string, body?: unknown) {
      const { response, text } = await ask(method, path, body);
      return { status: response.status, body: parse<T>(text) };
    },
    async call<T>(method: string, path: string, body?: unknown) {
      const { response, text } = await ask(method, path, body);
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return parse<T>(text);
    },
  };
};
