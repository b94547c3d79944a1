import type { AcmeProblemDocument, Certificate, CertificateSource, CertificateStep } from '@sallyport/contract';
import type { StoredCertificate, StoredKeeping } from './store.ts';

export const identityOf = ({
  id,
  uuid,
  name,
  provider,
  domains,
}: Pick<StoredCertificate, 'id' | 'uuid' | 'name' | 'provider' | 'domains'>) => ({
  id,
  uuid,
  name,
  provider: provider as Certificate['provider'],
  domains,
});

/** What is wrong with the time of a certificate that is there; undefined when nothing is. */
export const validityWarning = (certificate: StoredCertificate, now: Date): string | undefined => {
  if (certificate.is_placeholder === 1) return undefined;
  if (new Date(certificate.expires_at) <= now) return `The certificate expired on ${certificate.expires_at}`;
  if (new Date(certificate.not_before) > now) return `The certificate is not valid before ${certificate.not_before}`;
  return undefined;
};

/** That a certificate was revoked; undefined when it was not, as far as is known here. */
export const revokedWarning = ({ revoked_at }: Pick<StoredCertificate, 'revoked_at'>): string | undefined =>
  revoked_at === null ? undefined : `The certificate was revoked on ${revoked_at}: who asks its authority refuses it`;

/** That it may be revoked; undefined when nobody asked for that, or when it is known. */
const askedWarning = (keeping: StoredKeeping | undefined): string | undefined => {
  const at = keeping?.revocation_asked_at ?? undefined;
  return at && `Its authority was asked to revoke it on ${at}, and its answer is not known: it is asked again`;
};

const NOT_KEPT = {
  source: null,
  steps: [],
  problem: null,
  last_attempt_at: null,
  next_attempt_at: null,
  renew_after: null,
};

const shownKeeping = (keeping: StoredKeeping | undefined, applied: boolean) => {
  if (keeping === undefined) return NOT_KEPT;
  const { account_id, account, dns_provider_id, dns_provider, is_auto, steps, problem, ...rest } = keeping;
  return {
    source: {
      issuer: rest.issuer as CertificateSource['issuer'],
      account_id,
      account,
      dns_provider_id,
      dns_provider,
      challenge: rest.challenge as CertificateSource['challenge'],
      key_type: rest.key_type as CertificateSource['key_type'],
      is_auto: is_auto === 1,
    },
    steps: stepsOf(JSON.parse(steps) as CertificateStep[], applied),
    problem: problem === null ? null : (JSON.parse(problem) as AcmeProblemDocument),
    last_attempt_at: rest.last_attempt_at,
    next_attempt_at: rest.next_attempt_at,
    renew_after: rest.renew_after,
  };
};

/** That it was revoked, or may be, why it could not be had or renewed, which come first, and why the proxy lacks what is there; undefined when neither is so. */
const issueOf = (
  certificate: StoredCertificate,
  keeping: StoredKeeping | undefined,
  { issue }: { issue: string | null },
): string | undefined => {
  const { is_placeholder } = certificate;
  const failures = [revokedWarning(certificate), askedWarning(keeping), keeping?.issue ?? undefined].filter(
    (text) => text !== undefined,
  );
  const failed = failures.length > 0 ? failures.join('. ') : undefined;
  if (failed === undefined || issue === null) return failed ?? issue ?? undefined;
  // That the proxy lacks what only stands in for it is no news while the order failed.
  return is_placeholder === 1 ? failed : `${failed}. Besides, the proxy lacks the one that is there: ${issue}`;
};

/** The steps of the last attempt. `applied`: the proxy has what came of it, though it may have lacked it at first. */
const stepsOf = (steps: readonly CertificateStep[], applied: boolean): CertificateStep[] =>
  steps.map((step) =>
    applied && step.name === 'install' && step.status === 'failed'
      ? { ...step, status: 'done', message: 'The proxy serves it.' }
      : step,
  );

/** A stored certificate as the API shows it. `state`: what the proxy has of it. */
export const toWire = (
  certificate: StoredCertificate,
  keeping: StoredKeeping | undefined,
  state: { applied: boolean; issue: string | null },
  now: Date,
): Certificate => {
  const isThere = certificate.is_placeholder === 0;
  return {
    ...identityOf(certificate),
    expires_at: isThere ? certificate.expires_at : null,
    created_at: certificate.created_at,
    applied: isThere && state.applied,
    issue: issueOf(certificate, keeping, state) ?? validityWarning(certificate, now) ?? null,
    revoked_at: certificate.revoked_at,
    status:
      certificate.revoked_at !== null
        ? 'revoked'
        : isThere
          ? 'valid'
          : keeping === undefined || keeping.issue !== null
            ? 'failed'
            : 'pending',
    ...shownKeeping(keeping, state.applied),
  };
};
