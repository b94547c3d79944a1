import type { Backup, CertificateInUse } from '@sallyport/contract';
import type { TFunction } from 'i18next';
import { formatDistance, formatNumber } from '../../../i18n/formats.ts';
import type { StateKind } from '../../../ui/state-kind.ts';
import type { Facts } from './facts.ts';

const DAY_MS = 86_400_000;
/** As the service does: a path that was not walked for so long is told. */
const PROOF_LASTS_DAYS = 30;
/** Certificates that end sooner are in danger: whatever renews them had weeks before. */
const SOON_DAYS = 14;

/** How one thing stands, and where to go about it. */
export interface Standing {
  name: 'proxy' | 'hosts' | 'protection' | 'crowdsec' | 'certificates' | 'backups' | 'emergency';
  kind: StateKind;
  /** In one or two words. */
  word: string;
  /** In a sentence: what is so, and what to do. May quote others. */
  why: string;
  to: string;
}

type T = TFunction<'system'>;

/** With a capital at its beginning, as the reader's language writes it. */
const sentence = (text: string): string => text.charAt(0).toLocaleUpperCase() + text.slice(1);

const daysSince = (iso: string): number => (Date.now() - Date.parse(iso)) / DAY_MS;

/** Days that a certificate is still good for; undefined while there is none yet. */
export const daysLeft = ({ expires_at }: CertificateInUse): number | undefined =>
  expires_at === null ? undefined : -daysSince(expires_at);

export const isInDanger = (certificate: CertificateInUse): boolean =>
  certificate.status === 'failed' || (daysLeft(certificate) ?? Number.POSITIVE_INFINITY) < SOON_DAYS;

const proxy = (t: T, { health }: Facts): Standing | undefined => {
  if (!health) return undefined;
  const isUp = health.proxy === 'up';
  return {
    name: 'proxy',
    kind: isUp ? 'good' : 'bad',
    word: t(isUp ? 'overview.runs' : 'overview.down'),
    why: t(isUp ? 'overview.proxyUp' : 'overview.proxyDown'),
    to: '/logs',
  };
};

const hosts = (t: T, { hosts: all }: Facts): Standing | undefined => {
  if (!all) return undefined;
  const base = { name: 'hosts', to: '/hosts' } as const;
  const { total, enabled: count, with_issue: missing, with_warnings: warned } = all;
  if (total === 0) return { ...base, kind: 'off', word: t('overview.none'), why: t('overview.hostsNone') };
  if (missing > 0) {
    return { ...base, kind: 'bad', word: t('overview.notServed', { count: missing }), why: t('overview.hostsBad') };
  }
  if (warned > 0) {
    return { ...base, kind: 'warning', word: t('overview.warned', { count: warned }), why: t('overview.hostsWarned') };
  }
  return {
    ...base,
    kind: 'good',
    word: t('overview.served', { count, shown: formatNumber(count) }),
    why: t('overview.hostsGood'),
  };
};

const protection = (t: T, { security }: Facts): Standing | undefined => {
  if (!security) return undefined;
  const base = { name: 'protection', to: '/security' } as const;
  const { enabled, applied, issue, waf, acl, rate_limit } = security;
  if (!applied) {
    return {
      ...base,
      kind: issue === null ? 'waiting' : 'bad',
      word: t(issue === null ? 'overview.beingApplied' : 'overview.notEnforced'),
      why: issue ?? t('overview.beingAppliedWhy'),
    };
  }
  if (issue !== null) return { ...base, kind: 'warning', word: t('overview.attend'), why: issue };
  if (!enabled) return { ...base, kind: 'off', word: t('overview.off'), why: t('overview.suiteOff') };
  const parts = [
    waf.enabled && t(waf.mode === 'block' ? 'overview.wafBlocks' : 'overview.wafReports'),
    acl.enabled && t('overview.acl'),
    rate_limit.enabled && t('overview.rateLimit'),
  ].filter((part) => part !== false);
  if (parts.length === 0) return { ...base, kind: 'warning', word: t('overview.empty'), why: t('overview.emptyWhy') };
  const isReporting = waf.enabled && waf.mode === 'monitor';
  return {
    ...base,
    kind: isReporting ? 'warning' : 'good',
    word: t(isReporting ? 'overview.reportsOnly' : 'overview.enforced'),
    why: sentence(parts.join(', ')),
  };
};

const crowdsec = (t: T, { security }: Facts): Standing | undefined => {
  if (!security) return undefined;
  const { enabled, running, mode } = security.crowdsec;
  const isWanted = security.enabled && enabled && mode === 'local';
  const base = { name: 'crowdsec', to: '/crowdsec' } as const;
  if (!isWanted) return { ...base, kind: 'off', word: t('overview.off'), why: t('overview.crowdsecOff') };
  return running
    ? { ...base, kind: 'good', word: t('overview.runs'), why: t('overview.crowdsecUp') }
    : { ...base, kind: 'bad', word: t('overview.down'), why: t('overview.crowdsecDown') };
};

const certificates = (t: T, { certificates: all }: Facts): Standing | undefined => {
  if (!all) return undefined;
  const base = { name: 'certificates', to: '/certificates' } as const;
  if (all.length === 0) return { ...base, kind: 'off', word: t('overview.none'), why: t('overview.certificatesNone') };
  const expired = all.filter((one) => (daysLeft(one) ?? 1) <= 0).length;
  const failed = all.filter(({ status }) => status === 'failed').length;
  if (expired + failed > 0) {
    const word = expired > 0 ? t('overview.expired', { count: expired }) : t('overview.failed', { count: failed });
    return { ...base, kind: 'bad', word, why: t('overview.certificatesBad') };
  }
  const ending = all.filter(isInDanger).length;
  if (ending > 0) {
    return {
      ...base,
      kind: 'warning',
      word: t('overview.ending', { count: ending }),
      why: t('overview.endingWhy', { count: ending }),
    };
  }
  const attended = all.filter(({ issue }) => issue !== null);
  if (attended[0]) {
    return { ...base, kind: 'warning', word: t('overview.attend'), why: attended[0].issue ?? '' };
  }
  const pending = all.filter(({ status }) => status === 'pending').length;
  if (pending > 0) {
    return { ...base, kind: 'waiting', word: t('overview.ordered', { count: pending }), why: t('overview.orderedWhy') };
  }
  const first = all.flatMap(({ expires_at }) => expires_at ?? []).sort()[0];
  const why = first ? t('overview.firstEnds', { count: all.length, when: formatDistance(first) }) : '';
  return { ...base, kind: 'good', word: t('overview.valid', { count: all.length }), why };
};

/** The newest that was read from end to end. */
const newestGood = (backups: readonly Backup[]): Backup | undefined =>
  backups.filter(({ verified_at }) => verified_at !== null).sort((a, b) => b.created_at.localeCompare(a.created_at))[0];

const backups = (t: T, { backups: all }: Facts): Standing | undefined => {
  if (!all) return undefined;
  const base = { name: 'backups', to: '/backups' } as const;
  const newest = newestGood(all);
  if (!newest) return { ...base, kind: 'bad', word: t('overview.none'), why: t('overview.backupsNone') };
  const when = formatDistance(newest.created_at);
  if (daysSince(newest.created_at) > 1) {
    return { ...base, kind: 'warning', word: t('overview.old'), why: t('overview.backupOld', { when }) };
  }
  if (newest.copy_problem !== '') {
    return { ...base, kind: 'warning', word: t('overview.notCopied'), why: newest.copy_problem };
  }
  const why = t(newest.copied_at === null ? 'overview.backupHere' : 'overview.backupCopied', { when });
  return { ...base, kind: 'good', word: t('overview.fresh'), why };
};

const emergency = (t: T, { emergency: status }: Facts): Standing | undefined => {
  if (!status) return undefined;
  const base = { name: 'emergency', to: '/emergency' } as const;
  const { token_set, last_proven_at } = status;
  if (!token_set) return { ...base, kind: 'warning', word: t('overview.notSetUp'), why: t('overview.noToken') };
  if (last_proven_at === null) {
    return { ...base, kind: 'warning', word: t('overview.notProven'), why: t('overview.notProvenWhy') };
  }
  const when = formatDistance(last_proven_at);
  return daysSince(last_proven_at) > PROOF_LASTS_DAYS
    ? { ...base, kind: 'warning', word: t('overview.old'), why: t('overview.provenLongAgo', { when }) }
    : { ...base, kind: 'good', word: t('overview.proven'), why: t('overview.provenWhen', { when }) };
};

/** How everything stands, as far as it is known; nothing is called good that was not read. */
export const judge = (t: T, facts: Facts): Standing[] =>
  [
    proxy(t, facts),
    hosts(t, facts),
    protection(t, facts),
    crowdsec(t, facts),
    certificates(t, facts),
    backups(t, facts),
    emergency(t, facts),
  ].filter((one) => one !== undefined);
