import type { GuardBlock } from '@sallyport/contract';
import type { RawHeader, Verdict, WafRequest, WafResponse } from '@sallyport/waf';
import type { Policy } from '../policy/policy.ts';
import { blockRecord, firewallOutcome, type Subject } from '../tell/block-record.ts';
import type { Counter } from '../tell/counts.ts';

/** A request to judge; parts that cost something to make are made when they are needed. */
export interface Judged {
  reference: string;
  hostId: number;
  client: string;
  method: Uint8Array;
  uri: Uint8Array;
  headers(): readonly RawHeader[];
}

/** What to do with a request. */
export type Judgement =
  | { action: 'pass' }
  | { action: 'deny'; layer: 'acl' | 'waf'; status: number }
  | { action: 'drop'; layer: 'waf' }
  | { action: 'redirect'; layer: 'waf'; location: string };

/** A judged request, and who judges its answer; nobody does when it was refused or the host is not inspected. */
export interface Exchange {
  judgement: Judgement;
  judgeResponse: ((response: WafResponse) => Judgement) | undefined;
  /** Ends what no answer has ended, so that rules about what happened are run and counters kept; else does nothing. */
  end(): void;
}

export interface JudgeDeps {
  counter: Counter;
  /** Must not throw and must not wait. */
  tell(block: GuardBlock): void;
}

const PASS: Judgement = { action: 'pass' };
const nothing = (): void => {};
const DENIED: Judgement = { action: 'deny', layer: 'acl', status: 403 };

const toJudgement = ({ action, status, redirectUrl }: Verdict): Judgement => {
  switch (action) {
    case 'pass':
      return PASS;
    case 'block':
      return { action: 'deny', layer: 'waf', status };
    case 'drop':
      return { action: 'drop', layer: 'waf' };
    case 'redirect': {
      // It goes into a header: nothing but printable ASCII without spaces.
      const isClean = redirectUrl !== null && /^[!-~]{1,2048}$/.test(redirectUrl);
      return isClean
        ? { action: 'redirect', layer: 'waf', location: redirectUrl }
        : { action: 'deny', layer: 'waf', status: 403 };
    }
    default:
      return action satisfies never;
  }
};

/** Judges by a policy, counts, and tells of what was refused. */
export const createJudge = ({ counter, tell }: JudgeDeps) => {
  const subject = (request: Judged): Subject => ({ ...request, headers: request.headers() });

  /** Counts and tells what a verdict means for this client. */
  const decide = (policy: Policy, request: Judged, verdict: Verdict): Judgement => {
    if (verdict.wouldBe === 'pass' && verdict.action === 'pass') return PASS;
    if (policy.isWhitelisted(request.client)) return PASS;
    counter.add(verdict.action === 'pass' ? 'monitored' : 'blocked');
    tell(blockRecord(subject(request), firewallOutcome(verdict)));
    return toJudgement(verdict);
  };

  return {
    /** The access list's word; undefined when it has nothing against the client. */
    access(policy: Policy, request: Judged): Judgement | undefined {
      const reason = policy.judgeAccess(request.hostId, request.client);
      if (reason === undefined || policy.isWhitelisted(request.client)) return undefined;
      counter.add('access_denied');
      tell(
        blockRecord(subject(request), {
          layer: 'acl',
          monitored: false,
          status: 403,
          reason,
          rule_id: null,
          matches: [],
        }),
      );
      return DENIED;
    },

    /** The firewall's word about a whole request. */
    firewall(policy: Policy, request: Judged, whole: () => WafRequest): Judgement {
      if (!policy.inspects(request.hostId)) return PASS;
      counter.add('requests');
      return decide(policy, request, policy.inspect(request.hostId, whole()));
    },

    /** The same for a request whose answer is inspected too; `judgeResponse` has the word about that. */
    exchange(policy: Policy, request: Judged, whole: () => WafRequest): Exchange {
      if (!policy.inspects(request.hostId)) return { judgement: PASS, judgeResponse: undefined, end: nothing };
      counter.add('requests');
      const transaction = policy.begin(request.hostId, whole());
      const judgement = decide(policy, request, transaction.requestVerdict);
      if (judgement.action !== 'pass') {
        transaction.end();
        return { judgement, judgeResponse: undefined, end: nothing };
      }
      const wasTold = transaction.requestVerdict.wouldBe !== 'pass';
      return {
        judgement,
        judgeResponse(response) {
          const verdict = transaction.inspectResponse(response);
          // A request that is only monitored is one entry, not two.
          return wasTold && verdict.action === 'pass' ? PASS : decide(policy, request, verdict);
        },
        end() {
          transaction.end();
        },
      };
    },
  };
};
export type JudgeRequests = ReturnType<typeof createJudge>;
