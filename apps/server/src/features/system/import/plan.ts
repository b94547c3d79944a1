import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { NewProxyHost } from '@sallyport/contract';
import type { ImportedHost, Reading } from '@sallyport/import';
import { inPortions } from '@sallyport/store/database/portions';
import { Refusal } from '@sallyport/store/errors';
import type { HostIntake, PresentHost } from '../../host-intake.ts';

/** A host of an upload, with what stands in its way. */
export interface PlannedHost {
  imported: ImportedHost;
  input: NewProxyHost;
  names: readonly string[];
  /** Why it can not be a proxy host; null when it can. */
  issue: string | null;
  /** Its names that belong to proxy hosts, and those. */
  conflicts: readonly string[];
  owners: readonly PresentHost[];
}

/** Fields of an imported host that are not those of a proxy host. */
const toInput = ({ file, line, column, warnings, access_list, certificate, ...input }: ImportedHost): NewProxyHost =>
  input;

/** Switched off, when what its list keeps out would come in here. */
const guarded = (imported: ImportedHost, isJudged: ReadonlyMap<string, boolean>): ImportedHost => {
  if (imported.access_list === undefined || isJudged.get(imported.access_list)) return imported;
  const { file, line, warnings } = imported;
  const message = `imported switched off: its access list ${imported.access_list} would keep nobody out here yet`;
  return { ...imported, enabled: false, warnings: [{ file, line, message }, ...warnings] };
};

/** Without a certificate that would be refused here. */
const certified = (imported: ImportedHost, issues: ReadonlyMap<string, string | undefined>): ImportedHost => {
  const { certificate, ...rest } = imported;
  if (certificate === undefined) return imported;
  const issue = issues.has(certificate) ? issues.get(certificate) : 'it is missing';
  if (issue === undefined) return imported;
  const { file, line, warnings } = imported;
  const message = `its certificate ${certificate} is not taken over: ${issue}`;
  return { ...rest, warnings: [{ file, line, message }, ...warnings] };
};

const LONGEST_NAME = 255;
const HOSTS_A_TURN = 500;
/** Each takes about a millisecond. */
const CERTIFICATES_A_TURN = 20;

const outOfBounds = ({ forward_port, name = '' }: NewProxyHost): string | undefined => {
  if (!Number.isInteger(forward_port) || forward_port < 1 || forward_port > 65_535) {
    return 'forward_port must be between 1 and 65535';
  }
  return name.length > LONGEST_NAME ? `name must be at most ${LONGEST_NAME} characters long` : undefined;
};

/** As it would be stored, or why it can't be. */
const judge = (
  input: NewProxyHost,
  wouldBe: HostIntake['wouldBe'],
): { names: readonly string[]; issue: string | null } => {
  try {
    const issue = outOfBounds(input) ?? null;
    return { names: issue === null ? (wouldBe(input).names ?? []) : [], issue };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { names: [], issue: error.message };
  }
};

/**
 * Says of each host of an upload what its import would come to. Of two sites of one upload that claim a name the first has it: which
 * one was meant is not ours to guess, so that the second can not be imported, and says so.
 */
export const planHosts = async (
  { hosts, accessLists = [], certificates = [] }: Pick<Reading, 'hosts' | 'accessLists' | 'certificates'>,
  {
    wouldBe,
    isJudged,
    certificateIssue,
    ownersByName,
  }: Pick<HostIntake, 'wouldBe' | 'isJudged' | 'certificateIssue'> & {
    ownersByName: (names: readonly string[]) => Promise<ReadonlyMap<string, PresentHost>>;
  },
): Promise<PlannedHost[]> => {
  const claimed = new Map<string, ImportedHost>();
  const judged: Omit<PlannedHost, 'conflicts' | 'owners'>[] = [];
  const judgedLists = new Map(accessLists.map((list) => [list.name, isJudged(list)]));
  const issues = new Map<string, string | undefined>();
  for await (const portion of inPortions(certificates, CERTIFICATES_A_TURN)) {
    for (const certificate of portion) issues.set(certificate.name, certificateIssue(certificate));
  }
  for (const [index, host] of hosts.entries()) {
    if (index % HOSTS_A_TURN === HOSTS_A_TURN - 1) await yieldToOthers();
    const imported = guarded(certified(host, issues), judgedLists);
    const input = toInput(imported);
    const { names, issue } = judge(input, wouldBe);
    const twice = names.find((name) => claimed.has(name));
    const first = twice === undefined ? undefined : claimed.get(twice);
    if (first) {
      const message = `${twice} is the name of another site already, at ${first.file}:${first.line}`;
      judged.push({ imported, input, names, issue: message });
      continue;
    }
    for (const name of names) claimed.set(name, imported);
    judged.push({ imported, input, names, issue });
  }
  const owners = await ownersByName([...claimed.keys()]);
  return judged.map((one) => {
    const conflicts = one.issue === null ? one.names.filter((name) => owners.has(name)) : [];
    const present = new Map(conflicts.map((name) => owners.get(name) as PresentHost).map((host) => [host.id, host]));
    return { ...one, conflicts, owners: [...present.values()] };
  });
};
