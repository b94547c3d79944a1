import type { Certificate } from '@sallyport/contract';
import { useTranslation } from 'react-i18next';
import { StateBadge } from '../../../ui/state-badge.tsx';
import type { StateKind } from '../../../ui/state-kind.ts';

const DAY_MS = 86_400_000;
/** What is not renewed by itself is told of this long before its end. */
const SOON_DAYS = 14;

type CertificateState = 'revoked' | 'failed' | 'expired' | 'pending' | 'soon' | 'warning' | 'good' | 'idle';

const KINDS: Readonly<Record<CertificateState, StateKind>> = {
  revoked: 'bad',
  failed: 'bad',
  expired: 'bad',
  pending: 'waiting',
  soon: 'warning',
  warning: 'warning',
  good: 'good',
  idle: 'off',
};

/** How a certificate is, in one word: the worst there is. `uses`: how many hosts are served with it. */
export const stateOf = (certificate: Certificate, uses: number, now = Date.now()): CertificateState => {
  if (certificate.status === 'pending') return 'pending';
  if (certificate.status === 'failed') return 'failed';
  if (certificate.status === 'revoked') return 'revoked';
  const left = certificate.expires_at === null ? 0 : Date.parse(certificate.expires_at) - now;
  if (left <= 0) return 'expired';
  if (certificate.issue !== null) return 'warning';
  if (left < SOON_DAYS * DAY_MS && certificate.source === null) return 'soon';
  return uses > 0 ? 'good' : 'idle';
};

/** Whether something is being done about it right now. */
export const isUnderWay = ({ status, steps, next_attempt_at }: Certificate): boolean =>
  status === 'pending' ||
  steps.some((step) => step.status === 'running') ||
  (next_attempt_at !== null && Date.parse(next_attempt_at) <= Date.now());

/** The state of a certificate, with why. */
export const CertificateBadge = ({ certificate, uses }: { certificate: Certificate; uses: number }) => {
  const { t } = useTranslation('traffic');
  const state = stateOf(certificate, uses);
  return (
    <StateBadge kind={KINDS[state]} why={certificate.issue}>
      {t(`certificates.states.${state}`)}
    </StateBadge>
  );
};
