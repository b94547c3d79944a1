import type { WafRequest, WafResponse } from '@sallyport/waf';

type Reflection = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly encodedBody?: string;
};

/** The answer of CRS's test server: `POST /reflect` answers with what its JSON body describes, everything else is an empty 200. */
export const answer = (request: WafRequest): WafResponse => {
  const reflection = isReflect(request) ? readReflection(request.body) : {};
  const body =
    reflection.encodedBody === undefined
      ? Buffer.from(reflection.body ?? '')
      : Buffer.from(reflection.encodedBody, 'base64');
  const headers = new Map(Object.entries(reflection.headers ?? {}));
  const hasType = [...headers.keys()].some((name) => name.toLowerCase() === 'content-type');
  if (!hasType)
    headers.set(
      'Content-Type',
      body.toString('latin1').trimStart().startsWith('<') ? 'text/html' : 'text/plain; charset=utf-8',
    );
  headers.set('Content-Length', String(body.length));
  return {
    status: reflection.status ?? 200,
    headers: [...headers].map(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
    body,
  };
};

const isReflect = ({ uri }: WafRequest): boolean => /^\/reflect(?:$|[?/])/.test(Buffer.from(uri).toString('latin1'));

const readReflection = (body: Uint8Array | null): Reflection => {
  try {
    return JSON.parse(Buffer.from(body ?? []).toString()) as Reflection;
  } catch {
    return {};
  }
};
