import { formatNetwork, parseNetwork } from '@sallyport/access';
import type { GuardBlock } from '@sallyport/contract';
import type { RawHeader, Verdict } from '@sallyport/waf';

const MATCHES = 100;

/** A request as far as a record of its refusal tells of it. */
export interface Subject {
  reference: string;
  hostId: number;
  client: string;
  method: Uint8Array;
  uri: Uint8Array;
  headers: readonly RawHeader[];
}

const latin1 = (bytes: Uint8Array, most: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, most)).toString('latin1');

const header = (headers: readonly RawHeader[], name: string, most: number): string => {
  const found = headers.find(([key]) => key.length === name.length && latin1(key, key.length).toLowerCase() === name);
  return found ? latin1(found[1], most) : '';
};

const address = (text: string): string => {
  try {
    return formatNetwork(parseNetwork(text));
  } catch {
    return text.slice(0, 64);
  }
};

type Outcome = Pick<GuardBlock, 'layer' | 'monitored' | 'status' | 'reason' | 'rule_id' | 'matches'>;

/** What the server keeps and shows of a refusal. */
export const blockRecord = (subject: Subject, outcome: Outcome): GuardBlock => ({
  type: 'block',
  reference: subject.reference.slice(0, 128) || '-',
  timestamp: new Date().toISOString(),
  ...outcome,
  reason: outcome.reason.slice(0, 1_024),
  ip: address(subject.client),
  host: header(subject.headers, 'host', 255),
  host_id: subject.hostId,
  method: latin1(subject.method, 64),
  request_uri: latin1(subject.uri, 4_096),
  user_agent: header(subject.headers, 'user-agent', 1_024),
});

/** How a firewall verdict appears in that record. */
export const firewallOutcome = ({ matches, ruleId, status, wouldBe, action, limitsHit }: Verdict): Outcome => {
  const decisive = matches.find(({ isDecisive }) => isDecisive) ?? matches[0];
  return {
    layer: 'waf',
    monitored: action === 'pass' && wouldBe !== 'pass',
    status: action === 'pass' ? 200 : status,
    reason: decisive?.message || (limitsHit.length > 0 ? `limit: ${limitsHit.join(', ')}` : 'a rule matched'),
    rule_id: ruleId,
    matches: matches.slice(0, MATCHES).map((match) => ({
      rule_id: match.id,
      message: match.message.slice(0, 1_024),
      variable: match.variable.slice(0, 512),
      value: match.snippet.slice(0, 512),
      severity: match.severity,
    })),
  };
};
