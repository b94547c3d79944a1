import type { Outcome } from '@sallyport/haproxy';

/** What HAProxy was last read back to hold, and why it is not what is stored. */
export interface AppliedState {
  applied: boolean;
  issue: string | null;
}

/** `refused`: it was not taken although HAProxy is there, which goes on holding what it held before. */
export interface AppliedCertificate extends AppliedState {
  refused?: true;
}

const APPLIED: AppliedState = { applied: true, issue: null };
export const PENDING: AppliedState = { applied: false, issue: 'the data plane has not been read back yet' };
/** Intended and on disk; whether HAProxy holds it depends on nothing but HAProxy. */
const WAITING: AppliedState = { applied: false, issue: 'HAProxy is not running' };

const because = (issue: string): AppliedState => ({ applied: false, issue });

/** Whether an outcome says no more than that HAProxy is away: it will hold the change as soon as it is back. */
export const isAway = (issue: string | undefined): boolean => issue?.startsWith('HAProxy is not running') === true;

/** What is known of a certificate, and of which of its versions (see `CertificateSource`); undefined: of any. */
interface VersionState {
  version?: string;
  state: AppliedCertificate;
}

/** What is known of every host and certificate, by id, and of HAProxy as a whole: when that is away, nothing is applied. */
export const createAppliedStates = () => {
  const hosts = new Map<number, AppliedState>();
  const certificates = new Map<number, VersionState>();
  /** Why HAProxy does not hold what is intended; undefined when it does. */
  let failure: string | undefined;
  let lost: AppliedState | undefined;

  const told = <T extends AppliedState>(state: T): T | AppliedState => {
    if (state !== WAITING) return state;
    return failure === undefined ? APPLIED : because(failure);
  };

  return {
    /** As they were found, each by itself; `host` and `certificate` tell what to say of them. */
    hosts,
    certificates,

    host: (id: number): AppliedState => lost ?? told(hosts.get(id) ?? PENDING),

    /** Of a version that was committed a moment ago nothing is known yet, whatever is known of what it replaces. */
    certificate(id: number, version: string): AppliedCertificate {
      const known = certificates.get(id);
      const isOfIt = known && (known.version === undefined || known.version === version);
      return lost ?? told(isOfIt ? known.state : PENDING);
    },

    /** What the driver's answer to one change means; that HAProxy is away is remembered for all. */
    of(outcome: Outcome | undefined): AppliedState {
      if (isAway(outcome?.issue)) {
        failure = outcome?.issue;
        return WAITING;
      }
      if (!outcome) return PENDING;
      return outcome.applied ? APPLIED : because(outcome.issue ?? 'the data plane does not say why');
    },

    /** Why something is not applied, whatever HAProxy says. */
    because,

    /** What a whole comparison came to: the state of everything that it found nothing wrong with. */
    compared(report: { applied: boolean; issue?: string | undefined }): AppliedState {
      failure = report.applied ? undefined : (report.issue ?? 'the data plane is not reachable');
      return report.applied ? APPLIED : WAITING;
    },

    /** HAProxy was made to hold everything that is intended, and every state says so. */
    confirmed(): void {
      failure = undefined;
      lost = undefined;
    },

    /** The connection is lost: what can't be read back isn't claimed. */
    lost(reason: string): void {
      lost = because(reason);
    },

    isWhole: (): boolean => failure === undefined && lost === undefined,
    countNotApplied: (): number => [...hosts.values()].filter((state) => !told(state).applied).length,
  };
};
