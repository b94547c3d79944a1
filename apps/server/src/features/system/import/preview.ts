import type { ImportPreview, ImportPreviewHost, ImportSession } from '@sallyport/contract';
import type { Reading } from '@sallyport/import';
import type { PlannedHost } from './plan.ts';
import type { StoredSession } from './store.ts';

/** A session as the API shows it. */
export const toSession = ({ uuid, filename, state, source, created_at, updated_at }: StoredSession): ImportSession => ({
  uuid,
  filename,
  state: state as ImportSession['state'],
  source: source as ImportSession['source'],
  created_at,
  updated_at,
});

/** What taking the place of the first owner would make different. */
const changesOf = ({ input, names, owners: [first] }: PlannedHost): ImportPreviewHost['changes'] => {
  if (!first) return [];
  const fields = { ...input, domain: names.join(',') };
  return Object.entries(fields)
    .map(([field, after]) => ({
      field,
      before: first[field as keyof typeof first] as unknown,
      after: after as unknown,
    }))
    .filter(({ before, after }) => after !== undefined && before !== after);
};

const toHost = (planned: PlannedHost): ImportPreviewHost => {
  const { imported, names, issue, conflicts, owners } = planned;
  const { domain, forward_host, forward_port, forward_scheme, name = '', file, line, column, warnings } = imported;
  const { access_list = null, certificate = null } = imported;
  return {
    domain: names.length > 0 ? names.join(',') : domain,
    forward_host,
    forward_port,
    forward_scheme,
    name,
    file,
    line,
    ...(column === undefined ? {} : { column }),
    access_list,
    certificate,
    warnings,
    issue,
    conflicts: [...conflicts],
    existing: owners.map(({ uuid, domain: theirs }) => ({ uuid, domain: theirs })),
    changes: changesOf(planned),
  };
};

/** What an upload would come to, as the API shows it. */
export const toPreview = (
  session: StoredSession,
  { errors, warnings, staticFiles }: Reading,
  plan: readonly PlannedHost[],
): ImportPreview => ({
  session: toSession(session),
  hosts: plan.map(toHost),
  conflicts: plan.flatMap(({ conflicts }) => conflicts),
  errors,
  warnings: [...warnings, ...staticFiles],
});

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** How many warnings there are, in words; empty without any. */
export const warningOf = ({ hosts, warnings }: Pick<ImportPreview, 'hosts' | 'warnings'>): string => {
  const count = hosts.reduce((sum, host) => sum + host.warnings.length, warnings.length);
  return count === 0 ? '' : `${counted(count, 'warning')}: not all that the files say can be imported`;
};
