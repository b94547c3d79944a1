import type { NewAccessList, NewProxyHost, ProxyHostFields } from '@sallyport/contract';
import type { Actor } from '@sallyport/store/actor';
import type { Executor } from '@sallyport/store/database/open';
import type { Refusal } from '@sallyport/store/errors';

/** A proxy host that is there. */
export type PresentHost = ProxyHostFields & { id: number; uuid: string };

/** A host from elsewhere. With `replaces` it takes its names away from the hosts that have them. */
export interface Incoming {
  input: NewProxyHost;
  replaces: boolean;
}

/** A certificate from elsewhere with its key, PEM. */
export interface IncomingCertificate {
  name: string;
  certificatePem: string;
  keyPem: string;
}

/** What became of one: the ids of the hosts that it changed, or why it is not there. */
export type BroughtIn = { ids: number[] } | { refusal: Refusal };

/** Where hosts from elsewhere come in, many at once, by the checks and entries of single ones. */
export interface HostIntake {
  /** A host as it would be stored, without looking at others. Throws a `Refusal` when it could not be. */
  wouldBe(input: NewProxyHost): { fields: NewProxyHost; names: string[] | undefined };
  /** The hosts that have these names, by name. */
  ownersByName(executor: Executor, names: readonly string[]): Promise<ReadonlyMap<string, PresentHost>>;
  /** Whether an access list would keep out whom it is to keep out. */
  isJudged(list: NewAccessList): boolean;
  /**
   * Makes access lists in a transaction of the caller, or finds those that say the same: the id of each, by the name that it has in the
   * upload, or why it can not be made.
   */
  bringInLists(
    tx: Executor,
    lists: readonly NewAccessList[],
    actor: Actor,
  ): Promise<ReadonlyMap<string, number | Refusal>>;
  /** Why a certificate could not be stored, in words; undefined when it could. */
  certificateIssue(certificate: IncomingCertificate): string | undefined;
  /**
   * Stores certificates in a transaction of the caller, who has to sync them afterwards, or finds those that are there already: the id of
   * each, by its name, or why it can not be stored.
   */
  bringInCertificates(
    tx: Executor,
    certificates: readonly IncomingCertificate[],
    actor: Actor,
  ): Promise<ReadonlyMap<string, number | Refusal>>;
  /** Takes each in as far as it can be, in a transaction of the caller, who has to sync the ids afterwards. */
  bringIn(tx: Executor, incoming: readonly Incoming[], actor: Actor): Promise<BroughtIn[]>;
  /**
   * Runs a change of many hosts in a transaction of the caller. Throws a 409 when who came through our own proxy would lose the way by
   * which they came, and the change would not go back by itself.
   */
  keepingWayIn<T>(tx: Executor, actor: Actor, work: () => Promise<T>): Promise<T>;
  /** Resolves when what has these ids is live as stored, or when it is known why it isn't. */
  sync(changed: { hosts: readonly number[]; certificates: readonly number[] }): Promise<void>;
}
