import { DnsProvider } from '@sallyport/contract';
import { dnsProviderContext } from '@sallyport/store/secrets/contexts';
import type { Vault } from '@sallyport/store/secrets/vault';
import type { Row } from '@sallyport/store/snapshot/read-tables';
import { checkWritten, createRowCheck } from '../../check-row.ts';
import { checkFields } from './check-fields.ts';
import { OWN_TYPES } from './own-types.ts';

const { fields: _fields, ...plain } = DnsProvider.properties;

const textsOf = (what: string, text: string): Record<string, string> => {
  const value: unknown = JSON.parse(text);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isObject || !Object.values(value).every((one) => typeof one === 'string')) throw new Error(`${what} are none`);
  return value as Record<string, string>;
};

const sorted = (texts: Record<string, string>): string => JSON.stringify(Object.entries(texts).sort());

/** Makes the check whether rows are DNS providers that could have been made here. It throws an `Error` that says why not. */
export const createDnsProviderCheck = () => {
  const isProvider = createRowCheck({ properties: plain });
  return async (row: Row, vault: Pick<Vault, 'open'>): Promise<void> => {
    await isProvider(row);
    const { uuid, type, fields: fieldsText, secrets_sealed } = row;
    const fields = textsOf('fields', String(fieldsText));
    const opened =
      secrets_sealed === null ? '{}' : vault.open(String(secrets_sealed), dnsProviderContext(String(uuid)));
    const secrets = textsOf('secrets', opened);
    // Those go into a script and into headers; lego is told nothing but fields that it knows, whatever is stored.
    const known = OWN_TYPES.find((one) => one.type === type);
    if (!known) return;
    const checked = checkFields({ ...known, fields: [...known.fields] }, { ...fields, ...secrets });
    checkWritten('fields', sorted(fields), sorted({ ...checked.fields }));
    checkWritten('secrets', sorted(secrets), sorted({ ...checked.secrets }));
  };
};
