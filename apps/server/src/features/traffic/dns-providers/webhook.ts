import { type SafeFetch, SafeFetchError } from '../../../net/safe-fetch.ts';
import { signatureOf } from '../../../net/webhook-signature.ts';
import type { DnsProviderAccess, TextRecord } from './access.ts';
import { shownWords } from './words.ts';
import { DnsWriteFailed, type OpenRecords, undo } from './writer.ts';

const LIMIT_MS = 30_000;

/** A record with the name that it proves. */
export interface HookRecord extends TextRecord {
  domain: string;
}

const call = async (
  fetch: SafeFetch,
  { fields, secrets }: DnsProviderAccess,
  action: 'present' | 'cleanup',
  { domain, name, value }: HookRecord,
  signal?: AbortSignal,
): Promise<void> => {
  const { url = '' } = fields;
  const { bearer_token, signing_secret } = secrets;
  const body = JSON.stringify({ action, domain, name, value });
  const answer = await fetch(url, {
    method: 'POST',
    protocols: ['https:', 'http:'],
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Sallyport-DNS/1.0',
      ...(bearer_token === undefined ? {} : { authorization: `Bearer ${bearer_token}` }),
      ...(signing_secret === undefined ? {} : { 'x-sallyport-signature': signatureOf(signing_secret, body) }),
    },
    body,
    timeoutMs: LIMIT_MS,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (!(error instanceof SafeFetchError)) throw error;
    throw new DnsWriteFailed(`The hook could not be called to ${action} ${name}: ${error.message}`, error);
  });
  if (answer.status >= 200 && answer.status < 300) return;
  const said = shownWords(answer.body.toString('utf8'), Object.values(secrets));
  throw new DnsWriteFailed(
    `The hook answered ${action} of ${name} with status ${answer.status}${said === '' ? '' : `: ${said}`}`,
  );
};

/** Has a program of the operator's own set records, by HTTP. Rejects with a `DnsWriteFailed`. */
export const writeByHook = async (
  access: DnsProviderAccess,
  records: readonly HookRecord[],
  { fetch, signal }: { fetch: SafeFetch; signal: AbortSignal },
): Promise<OpenRecords> => {
  const asked: HookRecord[] = [];
  const close = async (): Promise<void> => {
    const cleaned = await Promise.allSettled(asked.map((record) => call(fetch, access, 'cleanup', record)));
    const kept = cleaned.find((one) => one.status === 'rejected');
    if (kept) throw kept.reason;
  };
  try {
    // One after the other: a hook that reads and writes a whole zone must not lose one of them.
    for (const record of records) {
      asked.push(record);
      await call(fetch, access, 'present', record, signal);
    }
  } catch (error) {
    await undo({ close }, signal);
    throw error;
  }
  return { close };
};
