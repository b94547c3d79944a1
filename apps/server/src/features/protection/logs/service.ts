import type { GuardCounters, GuardMessage } from '@sallyport/contract';
import { maskUri } from '@sallyport/waf/mask-uri';
import { parseGuardLine } from './guard-line.ts';
import type { LogHub } from './hub.ts';
import { findLost, type Kept } from './lost-refusals.ts';
import { createOriginFailures } from './origin-failures.ts';
import { readProxyLine, toRefusal } from './proxy-line.ts';
import { type SecurityEvent, toLogEntry } from './security-event.ts';
import { tellingMatch } from './telling-match.ts';

export interface SecurityLogDeps {
  hub: LogHub;
  /** Every refusal, for whoever keeps or forwards them; must not throw and must not wait. */
  onEvent: (event: SecurityEvent) => void;
  onCounters: (counters: GuardCounters) => void;
  clock: () => Date;
}

type GuardBlock = Extract<GuardMessage, { type: 'block' }>;

const fromGuard = ({ type, host_id, matches, ...block }: GuardBlock): SecurityEvent => {
  const match = tellingMatch(matches, block.rule_id);
  return {
    ...block,
    matches,
    host_id: host_id === 0 ? null : host_id,
    rule_id: match?.rule_id || block.rule_id || null,
    variable: match?.variable ?? null,
    value: match?.value ?? null,
  };
};

/** Takes in what HAProxy and the guards tell, and hands it on: to the live stream and to `onEvent`. */
export const createSecurityLog = ({ hub, onEvent, onCounters, clock }: SecurityLogDeps) => {
  const failures = createOriginFailures({ publish: hub.publish, clock });

  const take = (told: SecurityEvent) => {
    const event = { ...told, request_uri: maskUri(told.request_uri) };
    hub.publish(toLogEntry(event));
    onEvent(event);
  };

  const ingestGuardMessage = (message: GuardMessage): void => {
    switch (message.type) {
      case 'block':
        take(fromGuard(message));
        break;
      case 'log': {
        const { level, message: text, timestamp, source, fields } = message;
        hub.publish({ level, message: text, timestamp, source, fields });
        break;
      }
      case 'counters':
        onCounters(message);
        break;
      default:
        message satisfies never;
    }
  };

  /** References of lines that were recovered, and that HAProxy may yet send. */
  const recovered = new Set<string>();

  /** Takes one line of HAProxy's log; false when it is none. */
  const ingestProxyLine = (text: string): boolean => {
    const line = readProxyLine(text);
    if (!line) return false;
    const event = toRefusal(line);
    if (!event) failures.note(line);
    else if (!recovered.delete(event.reference)) take(event);
    return true;
  };

  let invalid = 0;
  return {
    /**
     * Takes one line of `<dataDir>/run/log.sock`: a `GuardMessage`, or a line of HAProxy's standard output as the
     * supervisor passes it on. HAProxy's notices and its lines about anything but refusals and failed origins are left aside.
     */
    ingestLine(line: string): void {
      if (!line.startsWith('{')) return;
      const message = parseGuardLine(line);
      if (message) ingestGuardMessage(message);
      else if (!ingestProxyLine(line)) invalid += 1;
    },

    /**
     * Takes what HAProxy has told a predecessor that did not live to read it, out of the lines that HAProxy still holds. To be
     * called before any line is taken.
     */
    async recover(lines: readonly string[], kept: Kept): Promise<void> {
      const told = lines.flatMap((text) => {
        const line = readProxyLine(text);
        return (line && toRefusal(line)) ?? [];
      });
      for (const event of await findLost(told, kept)) {
        recovered.add(event.reference);
        take(event);
      }
    },

    countInvalid(): void {
      invalid += 1;
    },

    /** Lines that were not understood. */
    invalid: (): number => invalid,

    stop: failures.stop,
  };
};
