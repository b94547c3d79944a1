import { ProxyHostAsCode } from '@sallyport/contract';
import { compileCheck } from '@sallyport/contract/check';
import { nameOrWarning, toHosts } from '../draft.ts';
import { type Loss, loss, warn } from '../loss.ts';
import type { ImportedAccessList, ImportedHost, ImportWarning, Place, SourceError } from '../reading.ts';
import { shorten } from '../shorten.ts';
import { isObject } from './document.ts';

const isHost = compileCheck(ProxyHostAsCode);
const FIELDS = new Set(Object.keys(ProxyHostAsCode.properties));
/** Of one document; nobody reads more. */
const MAX_ERRORS = 1_000;
const REQUIRED = ['forward_host', 'forward_port'] as const;

/** What is found on the way. */
export interface Found {
  lists: ReadonlyMap<string, ImportedAccessList>;
  warnings: ImportWarning[];
  errors: SourceError[];
}

/** Whether a host has what it takes, and nothing else. */
const isWhole = (entry: object): boolean =>
  REQUIRED.every((field) => Reflect.get(entry, field) !== undefined) &&
  Object.keys(entry).every((field) => FIELDS.has(field));

const problemOf = (entry: unknown): string | undefined => {
  const unknown = isObject(entry) ? Object.keys(entry).find((field) => !FIELDS.has(field)) : undefined;
  if (unknown !== undefined) return `${shorten(unknown)} is not a known field`;
  const problem = isHost.problem(entry);
  if (problem !== undefined) return problem.replace(/^\./, '');
  const missing = REQUIRED.find((field) => (entry as Readonly<Record<string, unknown>>)[field] === undefined);
  return missing && `${missing} is required`;
};

/** What stands where something is wrong: the field that the words begin with, as it is written, or all of an entry. */
const offending = (entry: unknown, problem: string): string => {
  const field = /^\w+/.exec(problem)?.[0] ?? '';
  const value = isObject(entry) && Object.hasOwn(entry, field) ? { [field]: entry[field] } : entry;
  return shorten(JSON.stringify(value) ?? '', 200);
};

/** Hosts of an entry of `proxy_hosts`; what is wrong with it is in `errors`. */
export const hostsOf = (entry: unknown, place: Place, index: number, found: Found): ImportedHost[] => {
  const { lists, warnings, errors } = found;
  if (!isHost.accepts(entry) || !isWhole(entry)) {
    // To say of each of a million what is wrong with it takes long.
    if (errors.length >= MAX_ERRORS) return [];
    const message = problemOf(entry) ?? 'it is no host';
    errors.push({ ...warn(place, `proxy_hosts[${index}]: ${message}`), text: offending(entry, message) });
    return [];
  }
  const { domain, enabled, forward_scheme = 'http', forward_host = '', forward_port = 0, ...rest } = entry;
  const { remote_server, certificate, access_list, ...fields } = rest;
  const names = domain.split(',').flatMap((name) => nameOrWarning(name.trim(), place, warnings) ?? []);
  if (names.length === 0) return [];
  const losses: Loss[] = [];
  const list = typeof access_list === 'string' ? lists.get(access_list) : undefined;
  if (typeof access_list === 'string' && !list) {
    losses.push(loss(place, `its access list ${shorten(access_list)} is not in the file`, true));
  }
  if (typeof certificate === 'string') {
    losses.push(loss(place, `its certificate ${shorten(certificate)} is in no export: choose it here, or upload it`));
  }
  if (typeof remote_server === 'string') {
    losses.push(loss(place, `its link to the remote server ${shorten(remote_server)} is not taken over`));
  }
  const made = { ...fields, forward_scheme, forward_host, forward_port, ...(list && { access_list: list.name }) };
  const hosts = toHosts({ place, names: [...new Set(names)], fields: made, losses }, warnings);
  return enabled === false ? hosts.map((host) => ({ ...host, enabled })) : hosts;
};
